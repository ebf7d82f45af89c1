#include <limits>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_group.h"

namespace weft::api {
namespace {

constexpr IntRange kMinCount = {0, std::numeric_limits<std::int32_t>::max()};

}  // namespace

Result<PodGroup> DecodePodGroup(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root(), spec = root["spec"];
  PodGroup group;
  group.place = decoding.place();
  group.meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  group.meta.annotations = {};
  group.min_count = spec["schedulingPolicy"]["gang"]["minCount"].Int(kMinCount);
  for (const Field& constraint : spec["schedulingConstraints"]["topology"].Items()) {
    group.topology_key = constraint["key"].Str();
  }
  for (const Field& condition : root["status"]["conditions"].Items()) {
    if (condition["type"].Str() != "PodGroupInitiallyScheduled") continue;
    group.decided = true;
    if (condition["status"].Str() == "True") continue;
    // Of a group in error no pod is told that it does not fit.
    const std::string reason = condition["reason"].Str();
    group.message = condition["message"].Str();
    if (reason != "Unschedulable") group.message = reason + ": " + group.message;
  }
  if (Status done = decoding.status(); !done) return done.error();
  return group;
}

}  // namespace weft::api
