#include "tests/world/pod_groups.h"

#include <algorithm>

#include "operator/api/json_text.h"
#include "tests/world/actor.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

bool HasProtection(const Json& finalizers) {
  return std::find(finalizers.begin(), finalizers.end(), Json(kProtection)) != finalizers.end();
}

// What may not change: all but minCount.
Json LastingSpec(const Json& group) {
  Json spec = At(group, {"spec"});
  if (At(spec, {"schedulingPolicy", "gang"}).is_object()) {
    spec["schedulingPolicy"]["gang"].erase("minCount");
  }
  return spec;
}

}  // namespace

bool ApiServer::State::HasGroupGate() {
  if (group_gate == GroupGate::kMixed) return group_chance.Below(2) == 0;
  return group_gate == GroupGate::kOn && options.pod_groups;
}

// pkg/api/pod/util.go dropDisabledSchedulingGroup.
Refusal ApiServer::State::AdmitPod(const Call& call, Json& pod) {
  DefaultPod(pod);
  if (pod["spec"].contains("schedulingGroup") && !HasGroupGate()) {
    pod["spec"].erase("schedulingGroup");
  }
  return SetPriority(call, pod);
}

// plugin/pkg/admission: priority, scheduling/podgroupprotection.
Refusal ApiServer::State::AdmitPodGroup(const Call& call, Json& group) {
  if (!HasGroupGate()) {
    if (group_gate == GroupGate::kMixed) return NoSuchResource();
    return std::nullopt;
  }
  Json& finalizers = group["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (!HasProtection(finalizers)) finalizers.push_back(kProtection);
  return SetPriority(call, group);
}

void CheckPodGroup(const std::string& resource, const Json& object, Causes& causes) {
  if (resource != kPodGroupResource) return;
  const Json& policy = At(object, {"spec", "schedulingPolicy"});
  const bool gang = At(policy, {"gang"}).is_object(), basic = At(policy, {"basic"}).is_object();
  if (gang == basic) {
    causes.push_back(WrongValue("spec.schedulingPolicy", api::JsonText(policy),
                                "must specify one of: `basic`, `gang`"));
  } else if (gang && NumberAt(policy, {"gang", "minCount"}) < 1) {
    causes.push_back(WrongValue("spec.schedulingPolicy.gang.minCount",
                                api::JsonText(At(policy, {"gang", "minCount"})),
                                "must be greater than or equal to 1"));
  }
}

void CheckPodGroupChange(const std::string& resource, const Json& before, const Json& after,
                         Causes& causes) {
  if (resource != kPodGroupResource || LastingSpec(before) == LastingSpec(after)) return;
  causes.push_back(WrongValue("spec", api::JsonText(At(after, {"spec"})), "field is immutable"));
}

std::string GroupOf(const Json& pod) {
  return TextAt(pod, {"spec", "schedulingGroup", "podGroupName"});
}

std::int64_t MinCountOf(const Json& group) {
  const Json& gang = At(group, {"spec", "schedulingPolicy", "gang"});
  return gang.is_object() ? NumberAt(gang, {"minCount"}) : 1;
}

bool IsDisruptedAsOne(const Json& group) {
  return At(group, {"spec", "disruptionMode", "all"}).is_object();
}

}  // namespace weft::world
