#include "operator/life/exclusion_memory.h"

#include <utility>

#include "operator/life/exclusion.h"

namespace weft::life {

void ExclusionMemory::See(const std::string& owner, const std::vector<api::ExcludedNode>& excluded,
                          UnixSeconds now, const UidOf& uid_of) {
  std::map<std::string, Machine> before;
  if (const auto found = by_owner_.find(owner); found != by_owner_.end()) {
    before = std::move(found->second);
    by_owner_.erase(found);
  }
  std::map<std::string, Machine> machines;
  for (const api::ExcludedNode& entry : excluded) {
    if (!IsOut(entry, now)) continue;
    const auto known = before.find(entry.node);
    // A node that refused again is excluded to another time.
    if (known != before.end() && known->second.entry.until == entry.until) {
      machines[entry.node] = std::move(known->second);
    } else {
      machines[entry.node] = {entry, uid_of(entry.node)};
    }
  }
  if (!machines.empty()) by_owner_[owner] = std::move(machines);
}

void ExclusionMemory::DropMadeAgain(const std::string& owner, const UidOf& uid_of,
                                    std::vector<api::ExcludedNode>& excluded) const {
  const auto found = by_owner_.find(owner);
  if (found == by_owner_.end()) return;
  std::erase_if(excluded, [&](const api::ExcludedNode& entry) {
    const auto machine = found->second.find(entry.node);
    if (machine == found->second.end() || machine->second.entry.until != entry.until) return false;
    const std::string uid = uid_of(entry.node);
    return !uid.empty() && uid != machine->second.uid;
  });
}

void ExclusionMemory::DropEnded(UnixSeconds now) {
  for (auto& [owner, machines] : by_owner_) {
    std::erase_if(machines, [&](const auto& one) { return !IsOut(one.second.entry, now); });
  }
  std::erase_if(by_owner_, [](const auto& one) { return one.second.empty(); });
}

}  // namespace weft::life
