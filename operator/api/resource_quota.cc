#include "operator/api/resource_quota.h"

#include "operator/api/json_reader.h"

namespace weft::api {

Result<ResourceQuota> DecodeResourceQuota(const nlohmann::json& object, const Place& place) {
  Decoding decoding(object, place);
  const Field root = decoding.Root();
  ResourceQuota quota;
  quota.meta = DecodeMeta(root["metadata"], Scope::kNamespaced);
  const Field spec = root["spec"];
  quota.scoped = spec["scopes"].present() || spec["scopeSelector"].present();
  for (const Field& entry : root["status"]["hard"].Members()) {
    quota.limits[std::string(entry.key())].hard = entry.MilliQuantity();
  }
  for (const Field& entry : root["status"]["used"].Members()) {
    const auto limit = quota.limits.find(std::string(entry.key()));
    if (limit != quota.limits.end()) limit->second.used = entry.MilliQuantity();
  }
  if (Status done = decoding.status(); !done) return done.error();
  return quota;
}

}  // namespace weft::api
