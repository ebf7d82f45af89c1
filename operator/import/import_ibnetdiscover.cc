#include "operator/import/import_ibnetdiscover.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "operator/base/units.h"
#include "operator/fabric/link_types.h"
#include "operator/import/ib_speed.h"
#include "operator/import/import_ib_dump.h"
#include "operator/import/import_ib_graph.h"
#include "operator/import/import_ib_hosts.h"
#include "operator/import/import_ib_rails.h"
#include "operator/import/import_text.h"
#include "operator/import/import_tree.h"

namespace weft::import {
namespace {

constexpr std::size_t kSwitchesShown = 8;
constexpr int kFewestHcasToJudge = 4;  // with fewer, a host with half of them may be broken

// The names as text: "a, b, c and 5 more".
std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kSwitchesShown; ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > kSwitchesShown) {
    text += " and " + std::to_string(names.size() - kSwitchesShown) + " more";
  }
  return text;
}

std::string Count(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

// One level: the domain of each host, the domains' names, and the link to the next wider level.
struct Level {
  std::vector<int> domain_of_host;  // -1 for none
  std::vector<std::string> names;   // by domain
  std::int64_t oversubscription_percent = 100;
};

class IbImporter {
 public:
  IbImporter(const manifest::Source& source, const ImportOptions& options)
      : source_(source), options_(options) {}

  Result<ImportedCluster> Import() {
    const Result<IbDump> dump = ParseIbnetdiscover(source_);
    if (!dump) return dump.error();
    graph_ = BuildIbGraph(*dump);
    joined_ = JoinHosts(graph_);
    if (joined_.hosts.empty()) {
      return dump->skipped.FirstOr(Invalid(source_.name + ": no HCA has a host's name"));
    }
    if (joined_.hosts.size() > kMaxImportedNodes) return Invalid(source_.name + ": too many hosts");
    cluster_.fabric.name = options_.fabric_name;
    NoteCounts();
    std::vector<std::vector<int>> hca_sets, leaf_sets;
    for (const IbHost& host : joined_.hosts) {
      leaf_sets.push_back(host.leaves);
      hca_sets.emplace_back(static_cast<std::size_t>(host.hcas));
    }
    usual_hcas_ = static_cast<int>(UsualSize(hca_sets));
    rails_ = static_cast<int>(UsualSize(leaf_sets));
    const Groups groups = GroupByMajority(leaf_sets);
    rail_of_leaf_ = FindRails(joined_.hosts, groups, rails_);
    FindLevels(groups);
    WriteLevels();
    WriteNodes();
    return dump->skipped.Judge(std::move(cluster_));
  }

 private:
  void Note(std::string text) { cluster_.notes.push_back(std::move(text)); }

  const IbSwitch& At(int index) const { return graph_.switches[static_cast<std::size_t>(index)]; }

  bool has_switches() const { return !graph_.switches.empty(); }

  void NoteCounts() {
    std::map<int, std::size_t> by_tier;
    for (const IbSwitch& s : graph_.switches) ++by_tier[s.tier];
    std::string tiers;
    const std::vector<std::string> names =
        PortableLevelNames(static_cast<std::size_t>(graph_.TierCount()));
    for (const auto& [tier, count] : by_tier) {
      const std::string name = tier < 0 ? "unreachable switch"
                                        : names[names.size() - 1 - static_cast<std::size_t>(tier)];
      tiers += (tiers.empty() ? "" : ", ") + std::to_string(count) + " " + name;
    }
    const std::string hosts =
        Count(joined_.hosts.size(), "named host") + ", " + Count(graph_.hcas.size(), "HCA");
    if (has_switches()) {
      Note(std::to_string(graph_.switches.size()) + " switches (" + tiers + "), " + hosts);
    } else {
      Note("no switch: the hosts are linked to each other and the Fabric has no levels; " + hosts);
    }
    if (has_switches() && graph_.back_to_back_hcas > 0) {
      Note(Count(static_cast<std::size_t>(graph_.back_to_back_hcas), "HCA") +
           " linked to other HCAs and to no switch left out");
    }
    if (graph_.aggregation_nodes > 0) {
      Note(Count(static_cast<std::size_t>(graph_.aggregation_nodes), "SHARP aggregation node") +
           " left out");
    }
    if (joined_.attached_hcas > 0) {
      Note(Count(static_cast<std::size_t>(joined_.attached_hcas), "unnamed HCA") +
           " attached to the only host that can own it");
    }
    if (joined_.unnamed_hcas > 0) {
      Note(std::to_string(joined_.unnamed_hcas) + " of " + std::to_string(graph_.hcas.size()) +
           " HCAs carry a factory description and belong to no named host: their hosts are not in "
           "the manifests");
    }
    if (!joined_.repeated.empty()) {
      Note("several HCAs have the same description: " + Listed(joined_.repeated) +
           "; hosts with the same name count as one host");
    }
  }

  // 100 x down / up of the tier's switches, by the speeds of their ports, where all are known: the
  // median, so that a few dead cables do not decide.
  std::int64_t Oversubscription(int tier) {
    std::vector<std::int64_t> percents;
    for (std::size_t i = 0; i < graph_.switches.size(); ++i) {
      if (graph_.switches[i].tier != tier) continue;
      const auto at = static_cast<SwitchIndex>(i);
      const bool ports = !At(at).speeds_known;
      const IbLinks below = tier == 0 ? At(at).hca_links : graph_.LinksTo(at, tier - 1);
      const IbLinks above = graph_.LinksTo(at, tier + 1);
      const double down = ports ? below.count : below.bytes_per_second;
      const double up = ports ? above.count : above.bytes_per_second;
      if (up > 0) percents.push_back(std::max<std::int64_t>(100, std::llround(100 * down / up)));
    }
    if (percents.empty()) return 100;
    std::sort(percents.begin(), percents.end());
    const std::int64_t median = percents[(percents.size() - 1) / 2];
    if (percents.back() > median) {
      Note("tier " + std::to_string(tier) + ": the usual switch is oversubscribed " +
           std::to_string(median) + " %, the worst " + std::to_string(percents.back()) +
           " % (links down / links up)");
    }
    return median;
  }

  std::vector<std::string> NamesOf(const Groups& groups) const {
    std::vector<std::string> names;
    for (const auto& members : groups.members) names.push_back(At(members.front()).name);
    return names;
  }

  // Finds the levels: leaf groups first, then groups that share most switches of the next tier,
  // until one domain holds all.
  void FindLevels(const Groups& leaf_groups) {
    if (!has_switches()) return;
    levels_.push_back({leaf_groups.of_set, NamesOf(leaf_groups), 100});
    std::vector<std::vector<int>> members = leaf_groups.members;
    for (int tier = 1; tier < graph_.TierCount() && members.size() > 1; ++tier) {
      outside_percent_ = std::min<std::int64_t>(
          SaturatingMultiply(outside_percent_, Oversubscription(tier - 1)) / 100, 1'000'000);
      std::vector<std::vector<int>> above;
      above.reserve(members.size());
      for (const std::vector<int>& group : members) above.push_back(Above(group, tier));
      const Groups wider = GroupByMajority(above);
      if (wider.members.empty()) break;
      if (wider.members.size() == members.size()) {  // the same domains again, one tier higher
        for (std::size_t i = 0; i < members.size(); ++i) {
          const int group = wider.of_set[i];
          if (group >= 0) members[i] = wider.members[static_cast<std::size_t>(group)];
        }
        continue;
      }
      const bool all = std::none_of(wider.of_set.begin(), wider.of_set.end(),
                                    [](int group) { return group < 0; });
      if (wider.members.size() == 1 && all) return;
      AddLevel(wider);
      members = wider.members;
    }
    if (members.size() > 1) {
      Note(Count(members.size(), "domain") +
           " of the widest level share no switch: the link outside them is a guess");
    }
  }

  void AddLevel(const Groups& wider) {
    Level level{{}, NamesOf(wider), outside_percent_};
    for (const int domain : levels_.back().domain_of_host) {
      level.domain_of_host.push_back(domain < 0 ? -1
                                                : wider.of_set[static_cast<std::size_t>(domain)]);
    }
    levels_.push_back(std::move(level));
  }

  std::vector<int> Above(const std::vector<int>& switches, int tier) const {
    std::set<int> above;
    for (const int s : switches) {
      for (const auto& [peer, count] : At(s).links) {
        if (At(peer).tier == tier) above.insert(peer);
      }
    }
    return {above.begin(), above.end()};
  }

  // The usual speed of the HCAs' links.
  std::string UsualSpeed() {
    std::map<std::string, std::size_t> speeds;
    for (const IbHca& hca : graph_.hcas) {
      if (graph_.Counts(hca) && !hca.speed.empty()) ++speeds[hca.speed];
    }
    std::string usual;
    std::size_t most = 0, all = 0;
    for (const auto& [speed, count] : speeds) {
      all += count;
      if (count > most) std::tie(usual, most) = std::tie(speed, count);
    }
    if (all > most) {
      Note(Count(all - most, "HCA link") + " run at another speed than the usual " + usual);
    }
    return usual;
  }

  std::optional<fabric::LinkSpec> LinkOf(const std::string& speed, int gpus) {
    if (speed.find('x') == std::string::npos) return std::nullopt;
    const std::optional<IbSpeed> read = ReadIbSpeed(speed);
    if (!read) {
      Note("unknown link speed " + Quoted(speed) + ": bandwidths are assumed");
      return std::nullopt;
    }
    fabric::LinkSpec link;
    const auto known = fabric::FindLinkType("InfiniBand" + std::string(read->rate));
    if (known) link.type = known->name;
    const bool one_port_per_gpu = known && read->lanes == 4 && gpus == usual_hcas_;
    if (!one_port_per_gpu) {
      const std::int64_t port =
          known && read->lanes == 4 ? known->bandwidth_per_gpu : read->bytes_per_second;
      link.bandwidth_per_gpu = std::max<std::int64_t>(1, port * usual_hcas_ / std::max(gpus, 1));
    }
    return link;
  }

  void WriteLevels() {
    gpus_ = options_.gpus_per_node.value_or(std::min(usual_hcas_, kMaxGpusPerNode));
    if (!options_.gpus_per_node) {
      Note("nodes are given " + std::to_string(gpus_) + " " + options_.resource_name +
           " each, one for each HCA of the usual host; --gpus-per-node sets another number");
    }
    const std::optional<fabric::LinkSpec> link = LinkOf(UsualSpeed(), gpus_);
    level_names_ = PortableLevelNames(levels_.size());
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[levels_.size() - 1 - i];
      cluster_.fabric.levels.push_back(
          {level_names_[i], "weft.dev/" + level_names_[i], fabric::Identity::kValue, link});
      if (link) {
        cluster_.fabric.levels.back().link->oversubscription_percent =
            level.oversubscription_percent;
      }
    }
    if (link) {
      cluster_.fabric.outside = link;
      cluster_.fabric.outside->oversubscription_percent = outside_percent_;
    }
    Note(
        "InfiniBand does not show NVLink: if racks are NVLink domains, give the Fabric a scaleUp; "
        "--node-link sets the type of the links inside a node");
    if (rails_ < 2) return;
    Note("hosts have " + std::to_string(rails_) +
         " rails, each to a leaf switch of its own: hosts "
         "that share their leaf switches are one domain of level " +
         level_names_.back() + "; a tier of switches that connects all hosts adds no level");
    cluster_.fabric.rails = fabric::RailsSpec{rails_, {}};
    for (int rail = 0; rail < rails_; ++rail) {
      cluster_.fabric.rails->leaf_label_keys.push_back("weft.dev/rail-" + std::to_string(rail));
    }
  }

  bool IsCompute(const IbHost& host) const {
    if (has_switches() && host.leaves.empty()) return false;
    return usual_hcas_ < kFewestHcasToJudge || host.hcas * 2 > usual_hcas_;
  }

  void WriteNodes() {
    LabelNames labels;
    for (const IbSwitch& s : graph_.switches) labels.Shorten(s.name);  // sorted
    NodeNames names;
    std::vector<std::string> missing, other, on_spine, generic;
    for (std::size_t i = 0; i < joined_.hosts.size(); ++i) {
      const IbHost& host = joined_.hosts[i];
      const bool compute = IsCompute(host);
      if (has_switches() && host.leaves.empty()) on_spine.push_back(host.name);
      if (!compute && !host.leaves.empty()) other.push_back(host.name);
      if (host.hcas < usual_hcas_) missing.push_back(host.name);
      if (host.name == "localhost" || host.name == "ubuntu") generic.push_back(host.name);
      fabric::NodeFacts node =
          MakeNode(names.Shorten(host.name), options_.resource_name, compute ? gpus_ : 0);
      for (std::size_t l = 0; l < levels_.size(); ++l) {
        const Level& level = levels_[levels_.size() - 1 - l];
        const int domain = level.domain_of_host[i];
        if (domain < 0) continue;
        node.labels.Set("weft.dev/" + level_names_[l],
                        labels.Shorten(level.names[static_cast<std::size_t>(domain)]));
      }
      for (const int leaf : host.leaves) {
        const auto rail = rail_of_leaf_.find(leaf);
        if (rails_ < 2 || rail == rail_of_leaf_.end()) continue;
        node.labels.Add("weft.dev/rail-" + std::to_string(rail->second),
                        labels.Shorten(At(leaf).name));
      }
      cluster_.nodes.push_back(std::move(node));
    }
    std::sort(cluster_.nodes.begin(), cluster_.nodes.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    NoteHosts(missing, "have fewer than the usual " + std::to_string(usual_hcas_) + " HCAs");
    NoteHosts(other,
              "have at most half of the usual HCAs: they do not count as compute nodes and get no "
              "accelerators");
    NoteHosts(on_spine, "are on no leaf switch: they get no leaf label and no accelerators");
    NoteHosts(generic, "have a name that an installer leaves behind");
    if (names.changed() > 0) {
      Note(Count(names.changed(), "host name") + " do not fit Kubernetes and were changed");
    }
  }

  void NoteHosts(const std::vector<std::string>& hosts, const std::string& what) {
    if (hosts.empty()) return;
    Note(std::to_string(hosts.size()) + " of " + Count(joined_.hosts.size(), "host") + " " + what +
         ": " + Listed(hosts));
  }

  const manifest::Source& source_;
  const ImportOptions& options_;
  IbGraph graph_;
  IbHosts joined_;
  ImportedCluster cluster_;
  int usual_hcas_ = 0, rails_ = 0, gpus_ = 0;
  std::map<SwitchIndex, int> rail_of_leaf_;
  std::vector<Level> levels_;  // narrowest first
  std::int64_t outside_percent_ = 100;
  std::vector<std::string> level_names_;  // widest first
};

}  // namespace

Result<ImportedCluster> ImportIbnetdiscover(const manifest::Source& source,
                                            const ImportOptions& options) {
  return IbImporter(source, options).Import();
}

}  // namespace weft::import
