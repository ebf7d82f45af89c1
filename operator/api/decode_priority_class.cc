#include <limits>

#include "operator/api/decode.h"
#include "operator/api/json_reader.h"

namespace weft::api {

Result<PriorityClass> DecodePriorityClass(const nlohmann::json& object, const Place& place) {
  constexpr IntRange kInt32 = {std::numeric_limits<std::int32_t>::min(),
                               std::numeric_limits<std::int32_t>::max()};
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  PriorityClass priority_class;
  priority_class.place = decoding.place();
  priority_class.meta = DecodeMeta(root["metadata"], Scope::kCluster);
  priority_class.value = root["value"].Int(kInt32);
  priority_class.global_default = root["globalDefault"].Bool();
  priority_class.preemption_policy = root["preemptionPolicy"].Str(priority_class.preemption_policy);
  if (Status done = decoding.status(); !done) return done.error();
  return priority_class;
}

}  // namespace weft::api
