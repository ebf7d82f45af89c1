#include "operator/report/fabric_status.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/cluster/text.h"

namespace weft::report {
namespace {

using cluster::Fabrics;

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kNamedIncomplete = 256;

const char* SourceName(fabric::BandwidthSource source) {
  switch (source) {
    case fabric::BandwidthSource::kDeclared:
      return "Declared";
    case fabric::BandwidthSource::kKnownType:
      return "KnownType";
    case fabric::BandwidthSource::kAssumed:
      return "Assumed";
  }
  return "";
}

// The object's conditions, so that unchanged ones keep their transition times.
class Conditions {
 public:
  Conditions(const api::Raw& raw, UnixSeconds now) : time_(FormatTime(now)) {
    if (!raw) return;
    const auto status = raw->find("status");
    if (status != raw->end() && status->contains("conditions")) before_ = status->at("conditions");
  }

  void Add(const char* type, bool is, const char* reason, const std::string& message) {
    const char* value = is ? "True" : "False";
    std::string time = time_;
    for (const auto& one : before_) {
      if (one.value("type", "") == type && one.value("status", "") == value) {
        time = one.value("lastTransitionTime", time);
      }
    }
    all_.push_back({{"type", type},
                    {"status", value},
                    {"reason", reason},
                    {"message", message},
                    {"lastTransitionTime", time}});
  }
  OrderedJson Take() { return std::move(all_); }

 private:
  const std::string time_;
  nlohmann::json before_ = nlohmann::json::array();
  OrderedJson all_ = OrderedJson::array();
};

OrderedJson LevelOf(const std::string& name, std::size_t domains, const fabric::Link& link) {
  return {{"name", name}, {"domains", domains}, {"bandwidthSource", SourceName(link.source)}};
}

OrderedJson Levels(const fabric::Fabric& on) {
  OrderedJson levels = OrderedJson::array();
  for (fabric::Tier tier = fabric::kOutside + 1; tier < on.node_tier(); ++tier) {
    levels.push_back(
        LevelOf(on.tiers()[tier].name, on.domains(tier).size(), on.tiers()[tier].link));
  }
  for (const fabric::Plane& plane : on.planes()) {
    levels.push_back(LevelOf(plane.name, plane.size(), plane.link));
  }
  if (const fabric::Torus* torus = on.torus()) {
    levels.push_back(LevelOf(on.spec().torus->name, torus->count(), on.torus_link()));
  }
  return levels;
}

std::int64_t Accelerators(const fabric::Fabric& on) {
  return on.node_count() == 0 ? 0 : on.AcceleratorsIn(fabric::kOutside, fabric::DomainIndex{0});
}

std::string WhyIncomplete(const fabric::Fabric& on) {
  const auto all = on.incomplete();
  const fabric::IncompleteNode& first = all.front();
  std::string text = CountText(static_cast<std::int64_t>(all.size()), "node") + " not used; " +
                     first.node +
                     (first.why.empty() ? " lacks the label " + first.label_key : ": " + first.why);
  if (on.inconsistencies().empty()) return text;
  return text + "; " + fabric::Describe(on.inconsistencies().front());
}

void AddConditions(const fabric::Fabric& on, const Fabrics& fabrics, Conditions& conditions) {
  conditions.Add(
      "Valid", true, "Valid",
      CountText(on.node_count(), "node") + " with " + CountText(Accelerators(on), "accelerator"));
  const bool declared = cluster::LinksDeclared(on);
  conditions.Add("LinksDeclared", declared, declared ? "Declared" : "Assumed",
                 declared
                     ? "every link has a bandwidth or a known type"
                     : "some bandwidths are assumed, and times and percentages depend on them");
  const bool complete = on.incomplete().empty();
  const char* reason = complete                       ? "Complete"
                       : on.inconsistencies().empty() ? "LabelMissing"
                                                      : "Inconsistent";
  conditions.Add("NodesComplete", complete, reason,
                 complete ? "every node has the labels of all levels" : WhyIncomplete(on));
  if (!fabrics.overlapping.empty()) {
    conditions.Add("Overlapping", true, "Overlapping",
                   CountText(static_cast<std::int64_t>(fabrics.overlapping.size()), "node") +
                       " selected by two Fabrics, so neither uses them, such as " +
                       fabrics.overlapping.front());
  }
  if (!on.absent_toruses().empty()) {
    conditions.Add("TorusShapeUnused", true, "DomainAbsent", cluster::AbsentTorusesText(on));
  }
  if (on.crossing_scale_up() != nullptr) {
    conditions.Add("ScaleUpCrossesLevel", true, "ScaleUpCrossesLevel",
                   "domains of " + on.spec().scale_up->name +
                       " cross the levels: they count in the cost of a placement, but a job cannot "
                       "require or prefer them");
  }
}

}  // namespace

OrderedJson FabricStatus(const api::Fabric& object, const Fabrics& fabrics, UnixSeconds now) {
  const std::string& name = object.meta.key.name;
  Conditions conditions(object.raw, now);
  const auto built =
      std::find_if(fabrics.built.begin(), fabrics.built.end(),
                   [&](const Fabrics::Built& one) { return one.fabric->spec().name == name; });
  if (built == fabrics.built.end()) {
    const auto refused =
        std::find_if(fabrics.not_built.begin(), fabrics.not_built.end(),
                     [&](const Fabrics::NotBuilt& one) { return one.name == name; });
    conditions.Add("Valid", false, "Invalid",
                   refused == fabrics.not_built.end() ? "not built yet" : refused->why);
    return {{"conditions", conditions.Take()}};
  }
  const fabric::Fabric& on = *built->fabric;
  OrderedJson status = {{"nodes", on.node_count()},
                        {"accelerators", Accelerators(on)},
                        {"levels", Levels(on)},
                        {"incompleteCount", on.incomplete().size()}};
  OrderedJson incomplete = OrderedJson::array();
  for (const fabric::IncompleteNode& node : on.incomplete()) {
    if (incomplete.size() == kNamedIncomplete) break;
    incomplete.push_back({{"node", node.node}, {"missing", node.missing}});
  }
  if (!incomplete.empty()) status["incomplete"] = std::move(incomplete);
  AddConditions(on, fabrics, conditions);
  status["conditions"] = conditions.Take();
  return status;
}

OrderedJson UnreadableFabricStatus(const api::Fabric& object, UnixSeconds now) {
  Conditions conditions(object.raw, now);
  conditions.Add("Valid", false, "Invalid", object.unreadable);
  return {{"conditions", conditions.Take()}};
}

}  // namespace weft::report
