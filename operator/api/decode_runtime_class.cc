#include "operator/api/decode.h"
#include "operator/api/json_reader.h"
#include "operator/api/pod_requirements.h"

namespace weft::api {

Result<RuntimeClass> DecodeRuntimeClass(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  RuntimeClass one;
  one.place = decoding.place();
  one.meta = DecodeMeta(root["metadata"], Scope::kCluster);
  one.adds = DecodePodSpec(root["scheduling"]);
  one.adds.requests = DecodeResources(root["overhead"]["podFixed"]);
  if (Status done = decoding.status(); !done) return done.error();
  return one;
}

}  // namespace weft::api
