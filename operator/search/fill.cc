#include "operator/search/fill.h"

#include <algorithm>

#include "operator/base/check.h"
#include "operator/objective/hard_rules.h"

namespace weft::search {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;

std::optional<ByWorker<NodeIndex>> Filler::Fill(Tier tier, DomainIndex domain, Workers order,
                                                Rooms& rooms) {
  WEFT_CHECK(order.size() == instance_->workers());
  rooms_ = &rooms;
  nodes_.assign(order.size(), NodeIndex{0});
  if (!Lay(tier, domain, order)) return std::nullopt;
  WEFT_DCHECK(objective::MeetsHardRules(*instance_, nodes_) ||
              instance_->has_groups());  // slots hold
  return std::move(nodes_);
}

bool Filler::Lay(Tier tier, DomainIndex domain, Workers workers) {
  if (tier == instance_->node_tier()) {
    for (const WorkerIndex worker : workers) nodes_[worker] = AsNode(domain);
    return workers.size() <= instance_->slots()[AsNode(domain)];
  }
  const auto children = rooms_->Children(tier, domain);
  if (!children.empty() && rooms_->room(tier + 1, children.front()) >= workers.size()) {
    const std::size_t fit = rooms_->TightestFit(tier, domain, 0, workers.size());
    if (Lay(tier + 1, children[fit], workers)) return true;
  }
  return Split(tier, domain, workers);
}

// The last position in (from, to] at which the workers may be divided without splitting an atom;
// `from` if there is none.
std::size_t Filler::CutBefore(Tier tier, Workers workers, std::size_t from, std::size_t to,
                              bool soft) const {
  if (to >= workers.size()) return workers.size();
  const auto atoms = soft ? instance_->soft_atoms(tier) : instance_->hard_atoms(tier);
  if (atoms.empty()) return to;
  while (to > from && atoms[workers[to - 1]] == atoms[workers[to]]) --to;
  return to;
}

bool Filler::Split(Tier tier, DomainIndex domain, Workers workers) {
  const auto children = rooms_->Children(tier, domain);
  std::vector<Share> shares;
  shares.reserve(std::min(children.size(), workers.size()));
  std::size_t done = 0;
  for (std::size_t i = 0; i < children.size() && done < workers.size(); ++i) {
    const std::size_t rest = workers.size() - done;
    std::size_t at = i;
    if (done > 0 && rooms_->room(tier + 1, children[i]) >= rest) {
      at = rooms_->TightestFit(tier, domain, i, rest);
    }
    const std::uint64_t room = rooms_->room(tier + 1, children[at]);
    const std::size_t limit = done + static_cast<std::size_t>(std::min<std::uint64_t>(room, rest));
    const std::size_t end = CutBefore(tier + 1, workers, done, limit, true);
    shares.push_back({children[at], workers.subspan(done, end - done), {}});
    WEFT_DCHECK(end >= done && end <= workers.size());
    done = end;
    if (at != i && done < workers.size()) break;  // only a divided atom can leave some
  }
  if (done < workers.size() && !Leftover(tier, domain, workers.subspan(done), shares)) return false;
  for (const Share& share : shares) {
    if (!LayShare(tier + 1, share)) return false;
  }
  return true;
}

bool Filler::LayShare(Tier tier, const Share& share) {
  if (share.leftover.empty()) {
    return share.workers.empty() || Lay(tier, share.child, share.workers);
  }
  std::vector<WorkerIndex> both(share.workers.begin(), share.workers.end());
  both.insert(both.end(), share.leftover.begin(), share.leftover.end());
  return Lay(tier, share.child, both);
}

// Places the workers that whole tiles and soft atoms left over wherever there are slots, with hard
// atoms whole: first in children that are already used, then in the others.
bool Filler::Leftover(Tier tier, DomainIndex domain, Workers rest, std::vector<Share>& shares) {
  std::vector<DomainIndex> used;
  for (const Share& share : shares) used.push_back(share.child);
  std::sort(used.begin(), used.end());
  for (DomainIndex child : plain_->Children(tier, domain)) {
    if (!std::binary_search(used.begin(), used.end(), child)) shares.push_back({child, {}, {}});
  }
  std::size_t done = 0;
  for (Share& share : shares) {
    if (done == rest.size()) break;
    const std::uint64_t all = instance_->capacity(tier + 1, share.child);
    const std::uint64_t room = all - std::min<std::uint64_t>(all, share.workers.size());
    const std::size_t limit =
        done + static_cast<std::size_t>(std::min<std::uint64_t>(room, rest.size() - done));
    const std::size_t end = CutBefore(tier + 1, rest, done, limit, false);
    share.leftover = rest.subspan(done, end - done);
    done = end;
  }
  return done == rest.size();
}

}  // namespace weft::search
