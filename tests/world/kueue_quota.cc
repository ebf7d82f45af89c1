#include "tests/world/kueue_quota.h"

#include <algorithm>

#include "tests/world/kueue_status.h"

namespace weft::world {
namespace {

using Mode = FlavorAssignment::Mode;

struct PodSetNeed {
  std::string name;
  std::int64_t count = 1;
  std::map<std::string, std::int64_t> each;
  Json selector;
};

// The pods of a set that have not succeeded.
std::int64_t CountOf(const Json& workload, const Json& pod_set) {
  std::int64_t count = NumberAt(pod_set, {"count"});
  for (const Json& one : At(workload, {"status", "reclaimablePods"})) {
    if (At(one, {"name"}) == At(pod_set, {"name"})) count -= NumberAt(one, {"count"});
  }
  return count;
}

PodSetNeed NeedOf(const Json& workload, const Json& pod_set) {
  PodSetNeed need{.name = TextAt(pod_set, {"name"}),
                  .count = CountOf(workload, pod_set),
                  .each = {},
                  .selector = At(pod_set, {"template", "spec", "nodeSelector"})};
  for (const Json& container : At(pod_set, {"template", "spec", "containers"})) {
    // Kueue takes requests; it fills them from the limits.
    Json wanted = At(container, {"resources", "limits"});
    for (const auto& [name, value] : At(container, {"resources", "requests"}).items()) {
      wanted[name] = value;
    }
    for (const auto& [name, value] : wanted.items()) {
      need.each[name] += NumberAt(wanted, {name.c_str()});
    }
  }
  return need;
}

const Json* GroupOf(const Json& cluster_queue, const std::string& resource) {
  for (const Json& group : At(cluster_queue, {"spec", "resourceGroups"})) {
    const Json& covered = At(group, {"coveredResources"});
    if (std::find(covered.begin(), covered.end(), Json(resource)) != covered.end()) return &group;
  }
  return nullptr;
}

bool SelectorAllows(const Json& selector, const Json& flavor) {
  const Json& labels = At(flavor, {"spec", "nodeLabels"});
  return std::all_of(labels.items().begin(), labels.items().end(), [&](const auto& label) {
    const Json& wanted = At(selector, {label.key().c_str()});
    return wanted.is_null() || wanted == label.value();
  });
}

// How well one flavor would do for some resources of a pod set.
struct FlavorTry {
  Mode mode = Mode::kNoFit;
  std::string reason, message;
};

FlavorTry TryFlavor(const PodSetNeed& need, const Json& flavor_quotas, const FlavorUsage& held) {
  FlavorTry result{Mode::kFit, "", ""};
  const std::string flavor = TextAt(flavor_quotas, {"name"});
  for (const Json& one : At(flavor_quotas, {"resources"})) {
    const std::string resource = TextAt(one, {"name"});
    const auto each = need.each.find(resource);
    if (each == need.each.end()) continue;
    const std::int64_t nominal = NumberAt(one, {"nominalQuota"});
    const std::int64_t wanted = each->second * need.count;
    const auto used = held.find({flavor, resource});
    const std::int64_t before = used == held.end() ? 0 : used->second;
    if (wanted > nominal) {
      return {Mode::kNoFit, "ExceedsMaxQuota",
              "insufficient quota for " + resource + " in flavor " + flavor +
                  ", previously considered podsets requests (0) + current podset request (" +
                  std::to_string(wanted) + ") > maximum capacity (" + std::to_string(nominal) +
                  ")"};
    }
    if (wanted + before > nominal) {
      result = {Mode::kPreempt, "WaitingForQuota",
                "insufficient unused quota for " + resource + " in flavor " + flavor + ", " +
                    std::to_string(wanted + before - nominal) + " more needed"};
    }
  }
  return result;
}

// The more it blames the user, the more severe.
int SeverityOf(const std::string& reason) {
  if (reason == "NoMatchingFlavor") return 3;
  return reason == "ExceedsMaxQuota" ? 2 : 1;
}

std::int64_t OrderTime(const Json& workload) {
  const Json& evicted = ConditionOf(workload, "Evicted");
  const std::string reason = TextAt(evicted, {"reason"});
  if (TextAt(evicted, {"status"}) == "True" &&
      (reason == "PodsReadyTimeout" || reason == "AdmissionCheck")) {
    return TimeAt(evicted, {"lastTransitionTime"});
  }
  return TimeAt(workload, {"metadata", "creationTimestamp"});
}

bool Fits(const FlavorUsage& wanted, const FlavorUsage& used, const FlavorUsage& nominal) {
  return std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) {
    const auto held = used.find(one.first);
    const auto most = nominal.find(one.first);
    return one.second + (held == used.end() ? 0 : held->second) <=
           (most == nominal.end() ? 0 : most->second);
  });
}

}  // namespace

void AddTo(FlavorUsage& sum, const FlavorUsage& part, std::int64_t sign) {
  for (const auto& [key, value] : part) sum[key] += sign * value;
}

FlavorUsage UsageOf(const Json& workload) {
  FlavorUsage usage;
  std::map<std::string, std::int64_t> left;  // by pod set
  for (const Json& pod_set : At(workload, {"spec", "podSets"})) {
    left[TextAt(pod_set, {"name"})] = CountOf(workload, pod_set);
  }
  for (const Json& set : At(workload, {"status", "admission", "podSetAssignments"})) {
    const std::int64_t admitted = std::max<std::int64_t>(1, NumberAt(set, {"count"}));
    for (const auto& [resource, flavor] : At(set, {"flavors"}).items()) {
      usage[{flavor.get<std::string>(), resource}] +=
          NumberAt(set, {"resourceUsage", resource.c_str()}) / admitted *
          left[TextAt(set, {"name"})];
    }
  }
  return usage;
}

FlavorUsage NominalOf(const Json& cluster_queue) {
  FlavorUsage nominal;
  for (const Json& group : At(cluster_queue, {"spec", "resourceGroups"})) {
    for (const Json& flavor : At(group, {"flavors"})) {
      for (const Json& one : At(flavor, {"resources"})) {
        nominal[{TextAt(flavor, {"name"}), TextAt(one, {"name"})}] =
            NumberAt(one, {"nominalQuota"});
      }
    }
  }
  return nominal;
}

namespace {

// Of one resource: the first flavor with room, else the first one where others could make room.
bool AssignResource(const PodSetNeed& need, const std::string& resource, const Json& cluster_queue,
                    const FlavorUsage& held, const FindFlavor& find, FlavorAssignment& all,
                    Json& set) {
  const Json* group = GroupOf(cluster_queue, resource);
  if (group == nullptr) {
    all.reason = "NoMatchingFlavor";
    all.message = "resource " + resource + " unavailable in ClusterQueue";
    return false;
  }
  std::string chosen, reason, message;
  Mode mode = Mode::kNoFit;
  for (const Json& quotas : At(*group, {"flavors"})) {
    const std::string name = TextAt(quotas, {"name"});
    const auto flavor = find(name);
    FlavorTry result{Mode::kNoFit, "NoMatchingFlavor",
                     flavor ? "flavor " + name + " doesn't match node affinity"
                            : "flavor " + name + " not found"};
    if (flavor && SelectorAllows(need.selector, *flavor)) result = TryFlavor(need, quotas, held);
    if (SeverityOf(result.reason) > SeverityOf(reason) || reason.empty()) reason = result.reason;
    if (!result.message.empty()) message += (message.empty() ? "" : ", ") + result.message;
    if (result.mode < mode) {
      mode = result.mode;
      chosen = name;
    }
    if (mode == Mode::kFit) break;
  }
  if (mode != Mode::kFit) {
    all.mode = std::max(all.mode, mode);
    all.reason = reason;
    all.message += (all.message.empty() ? "" : "; ") + message;
  }
  if (mode == Mode::kNoFit) return false;
  const std::int64_t sum = need.each.at(resource) * need.count;
  set["flavors"][resource] = chosen;
  set["resourceUsage"][resource] = std::to_string(sum);
  all.usage[{chosen, resource}] += sum;
  return true;
}

}  // namespace

FlavorAssignment Assign(const Json& workload, const Json& cluster_queue, const FlavorUsage& used,
                        const FindFlavor& flavor) {
  FlavorAssignment all;
  Json sets = Json::array();
  for (const Json& pod_set : At(workload, {"spec", "podSets"})) {
    const PodSetNeed need = NeedOf(workload, pod_set);
    Json set = {{"name", need.name}, {"count", need.count}};
    FlavorUsage held = used;
    AddTo(held, all.usage, 1);
    for (const auto& [resource, each] : need.each) {
      if (AssignResource(need, resource, cluster_queue, held, flavor, all, set)) continue;
      all.mode = Mode::kNoFit;
      all.message = "couldn't assign flavors to pod set " + need.name + ": " + all.message;
      return all;
    }
    sets.push_back(std::move(set));
  }
  all.admission = {{"clusterQueue", TextAt(cluster_queue, {"metadata", "name"})},
                   {"podSetAssignments", std::move(sets)}};
  return all;
}

std::vector<std::shared_ptr<const Json>> Victims(const Json& workload, const FlavorUsage& wanted,
                                                 const Json& cluster_queue, FlavorUsage used,
                                                 std::vector<std::shared_ptr<const Json>> holders) {
  if (TextAt(cluster_queue, {"spec", "preemption", "withinClusterQueue"}) != "LowerPriority") {
    return {};
  }
  const std::int64_t priority = NumberAt(workload, {"spec", "priority"});
  std::erase_if(holders, [&](const auto& one) {
    return NumberAt(*one, {"spec", "priority"}) >= priority;
  });
  std::sort(holders.begin(), holders.end(), [](const auto& left, const auto& right) {
    if (IsTrue(*left, "Evicted") != IsTrue(*right, "Evicted")) return IsTrue(*left, "Evicted");
    const std::int64_t first = NumberAt(*left, {"spec", "priority"}),
                       second = NumberAt(*right, {"spec", "priority"});
    if (first != second) return first < second;
    const std::int64_t since = TimeAt(ConditionOf(*left, "QuotaReserved"), {"lastTransitionTime"});
    const std::int64_t other = TimeAt(ConditionOf(*right, "QuotaReserved"), {"lastTransitionTime"});
    if (since != other) return since > other;
    return UidOf(*left) < UidOf(*right);
  });
  const FlavorUsage nominal = NominalOf(cluster_queue);
  std::vector<std::shared_ptr<const Json>> victims;
  for (const auto& one : holders) {
    if (Fits(wanted, used, nominal)) break;
    // Kueue passes over those that hold nothing of what is short.
    AddTo(used, UsageOf(*one), -1);
    victims.push_back(one);
  }
  if (!Fits(wanted, used, nominal)) return {};
  // Those that need not go after all.
  for (std::size_t i = victims.size() < 2 ? 0 : victims.size() - 1; i-- > 0;) {
    AddTo(used, UsageOf(*victims[i]), 1);
    if (Fits(wanted, used, nominal)) {
      victims.erase(victims.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      AddTo(used, UsageOf(*victims[i]), -1);
    }
  }
  return victims;
}

bool IsBefore(const Json& left, const Json& right) {
  const std::int64_t first = NumberAt(left, {"spec", "priority"}),
                     second = NumberAt(right, {"spec", "priority"});
  if (first != second) return first > second;
  if (OrderTime(left) != OrderTime(right)) return OrderTime(left) < OrderTime(right);
  return UidOf(left) < UidOf(right);
}

}  // namespace weft::world
