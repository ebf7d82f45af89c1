#include "operator/render/domain_tree.h"

#include <algorithm>
#include <map>

#include "operator/render/domain_looks.h"
#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {

namespace {

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using Domains = std::vector<DomainIndex>;

constexpr std::size_t kLevelStep = 2;      // spaces per level
constexpr std::size_t kMostNameLines = 4;  // of names of equal nodes
constexpr std::size_t kHanging = 4;        // extra spaces in the continuation of a long line

// How much a tree shows.
struct Detail {
  bool nodes = true;
  Tier filled_from{0};  // from this tier on, domains with the same Fill share a line
};

struct Span {
  std::int64_t least = 0, most = 0;

  bool single() const { return least == most; }
  std::string Text() const {
    return single() ? Grouped(least) : Grouped(least) + "-" + Grouped(most);
  }
  std::string Text(const std::string& noun) const {
    return Text() + " " + noun + (most == 1 ? "" : "s");
  }
};

class Tree {
 public:
  Tree(const fabric::Claims& claims, const TextOptions& options)
      : fabric_(claims.fabric()), claims_(claims), options_(options), looks_(claims) {}

  // The whole tree.
  std::string Whole() {
    text_.clear();
    AddLine(fabric::kOutside, {DomainIndex{0}}, 0);
    VisitAll(fabric::kOutside, DomainIndex{0}, 1);
    return text_;
  }

  // The tree with as much detail as the lines allow.
  std::string Folded() {
    const Tier last = fabric_.node_tier();
    std::vector<Detail> details = {{true, last}, {false, last}};
    for (Tier t = last; t-- > Tier{1};) details.push_back({false, t});
    for (const Detail& detail : details) {
      detail_ = detail;
      cut_ = false;
      text_.clear();
      AddLine(fabric::kOutside, {DomainIndex{0}}, 0);
      Visit(fabric::kOutside, {DomainIndex{0}}, 1);
      if (std::count(text_.begin(), text_.end(), '\n') <= std::ptrdiff_t{kMostTreeLines}) break;
    }
    if (cut_ || !detail_.nodes) text_ += "(folded to be short; --nodes lists all)\n";
    return text_;
  }

 private:
  void VisitAll(Tier tier, DomainIndex domain, std::size_t depth) {
    const Tier child = tier + 1;
    if (child > fabric_.node_tier()) return;
    const auto& begin = fabric_.domains(tier).child_begin;
    for (DomainIndex d = begin[domain]; d < begin[domain + 1]; ++d) {
      AddLine(child, {d}, depth);
      VisitAll(child, d, depth + 1);
    }
  }

  // The next narrower tier whose domains have lines.
  Tier Below(Tier tier) const {
    const Tier child = tier + 1;
    const bool same = child == fabric_.nested_scale_up() && tier != fabric::kOutside &&
                      fabric_.domains(child).begin == fabric_.domains(tier).begin;
    return same ? child + 1 : child;
  }

  void Visit(Tier tier, const Domains& domains, std::size_t depth) {
    const Tier child = Below(tier);
    if (child == fabric_.node_tier()) {
      if (detail_.nodes) AddNodes(tier, domains, depth);
      return;
    }
    for (const Domains& alike : Alike(child, Children(tier, domains))) {
      AddLine(child, alike, depth);
      Visit(child, alike, depth + 1);
    }
  }

  Domains Children(Tier tier, const Domains& domains) const {
    Domains children;
    for (const DomainIndex domain : domains) {
      const auto& begin = fabric_.domains(tier).child_begin;
      for (DomainIndex d = begin[domain]; d < begin[domain + 1]; ++d) children.push_back(d);
    }
    return children;
  }

  // Groups of equal domains, by look or fill, in the order of their first domains.
  std::vector<Domains> Alike(Tier tier, const Domains& domains) const {
    std::vector<Domains> groups;
    std::map<std::uint32_t, std::size_t> group_of;
    for (const DomainIndex d : domains) {
      const std::uint32_t key = tier < detail_.filled_from
                                    ? looks_.look(tier, d)
                                    : static_cast<std::uint32_t>(FillOf(looks_.count(tier, d)));
      const auto [at, added] = group_of.try_emplace(key, groups.size());
      if (added) groups.emplace_back();
      groups[at->second].push_back(d);
    }
    return groups;
  }

  // The name without its parent's, which is in the line above.
  std::string Name(Tier tier, DomainIndex domain) const {
    if (tier == fabric::kOutside) return fabric_.spec().name;
    if (tier == fabric_.node_tier()) return fabric_.node(AsNode(domain)).name;
    const fabric::TierDomains& here = fabric_.domains(tier);
    std::string name = here.names[domain];
    if (tier > Tier{1}) {
      const fabric::TierDomains& above = fabric_.domains(tier - 1);
      const std::string parent = above.names[above.of_node[here.begin[domain]]] + "/";
      if (name.size() > parent.size() && name.starts_with(parent)) name.erase(0, parent.size());
    }
    return name;
  }

  std::string Names(Tier tier, const Domains& domains) {
    std::vector<std::string> names;
    for (const DomainIndex d : domains) names.push_back(Printable(Name(tier, d)));
    if (names.size() == 1) return names.front();
    return Short(std::move(names), 1, 0);
  }

  // The names that fit on `lines` lines.
  std::string Short(std::vector<std::string> names, std::size_t lines, std::size_t indent) {
    const auto columns = static_cast<std::size_t>(std::max(options_.columns, 0));
    std::string text = ShortRanges(std::move(names), lines * (std::max(columns, indent) - indent));
    cut_ = cut_ || text.ends_with(" more");
    return text;
  }

  // Adds a line such as "leaf-1: 16 nodes, 128 GPUs, 40 free, 1 node cordoned".
  void AddLine(Tier tier, const Domains& domains, std::size_t depth) {
    const std::string text =
        Names(tier, domains) + ": " +
        (domains.size() == 1 ? One(tier, domains.front()) : Each(tier, domains));
    DomainCount sum;
    for (const DomainIndex d : domains) sum.Add(looks_.count(tier, d));
    const Fill fill = FillOf(sum);
    const Colour colour = fill == Fill::kNothingFree ? Colour::kRed
                          : fill == Fill::kAllFree   ? Colour::kGreen
                                                     : Colour::kNone;
    const std::string lead(kLevelStep * depth, ' ');
    const std::string lines = Wrap(lead, text, lead.size() + kHanging, options_.columns);
    text_ +=
        lead +
        Paint(lines.substr(lead.size(), lines.size() - lead.size() - 1), colour, options_.colour) +
        "\n";
  }

  std::string One(Tier tier, DomainIndex domain) const {
    const DomainCount& count = looks_.count(tier, domain);
    if (tier == fabric_.node_tier()) {
      const std::string gpus = Counted(count.accelerators, "GPU") + ", ";
      const NodeState state = StateOf(fabric_, AsNode(domain));
      if (state == NodeState::kTakesPods) return gpus + Grouped(count.free) + " free";
      return gpus + (state == NodeState::kCordoned
                         ? "cordoned"
                         : "unusable: " + Printable(fabric_.unusable_why(AsNode(domain))));
    }
    const std::string off = OffText(count);
    return Counted(count.nodes, "node") + ", " + Counted(count.accelerators, "GPU") + ", " +
           Grouped(count.free) + " free" + (off.empty() ? "" : ", " + off);
  }

  // A text such as "each 16 nodes, 128 GPUs, 40-92 free; in all 530 free, 1 node cordoned".
  std::string Each(Tier tier, const Domains& domains) const {
    DomainCount sum;
    for (const DomainIndex d : domains) sum.Add(looks_.count(tier, d));
    const auto over = [&](std::int64_t DomainCount::*part) {
      Span span{looks_.count(tier, domains.front()).*part, 0};
      for (const DomainIndex d : domains) {
        span.least = std::min(span.least, looks_.count(tier, d).*part);
        span.most = std::max(span.most, looks_.count(tier, d).*part);
      }
      return span;
    };
    const Span free = over(&DomainCount::free);
    const std::string off = OffText(sum);
    std::string text = "each " + over(&DomainCount::nodes).Text("node") + ", " +
                       over(&DomainCount::accelerators).Text("GPU") + ", " + free.Text() + " free";
    if (!free.single()) text += "; in all " + Grouped(sum.free) + " free";
    if (!off.empty()) text += (free.single() ? "; in all " : ", ") + off;
    return text;
  }

  // Adds the nodes of narrowest domains, as ranges of names with equal free accelerators.
  void AddNodes(Tier tier, const Domains& domains, std::size_t depth) {
    struct Kind {
      NodeState state;
      std::int64_t taken, all;  // accelerators
      auto operator<=>(const Kind&) const = default;
    };
    std::map<Kind, std::vector<std::string>> kinds;
    const auto& begin = fabric_.domains(tier).begin;
    for (const DomainIndex d : domains) {
      for (NodeIndex n = begin[d]; n < begin[d + 1]; ++n) {
        const NodeState state = StateOf(fabric_, n);
        const std::int64_t all = fabric_.accelerators(n);
        const Kind kind = state == NodeState::kTakesPods
                              ? Kind{state, all - FreeOn(claims_, n), all}
                              : Kind{state, 0, 0};
        kinds[kind].push_back(Printable(fabric_.node(n).name));
      }
    }
    for (auto& [kind, names] : kinds) {
      std::string lead(kLevelStep * depth, ' ');
      lead += kind.state == NodeState::kUnusable ? "unusable: "
              : kind.state == NodeState::kCordoned
                  ? "cordoned: "
                  : Grouped(kind.all - kind.taken) + "/" + Grouped(kind.all) + " free: ";
      text_ += Wrap(lead, Short(std::move(names), kMostNameLines, lead.size()), lead.size(),
                    options_.columns);
    }
  }

  const fabric::Fabric& fabric_;
  const fabric::Claims& claims_;
  const TextOptions& options_;
  const DomainLooks looks_;
  Detail detail_;
  bool cut_ = false;  // names were left out
  std::string text_;
};

}  // namespace

std::string DomainTree(const fabric::Claims& claims, const TextOptions& options,
                       const TreeOptions& tree) {
  const fabric::Fabric& fabric = claims.fabric();
  if (fabric.node_count() == 0) return Printable(fabric.spec().name) + ": no complete node\n";
  Tree shown(claims, options);
  return tree.nodes ? shown.Whole() : shown.Folded();
}

}  // namespace weft::render
