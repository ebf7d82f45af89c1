#include "operator/controllers/create_or_read.h"

#include <nlohmann/json.hpp>
#include <string>

namespace weft::controllers {

Result<nlohmann::json> CreateOrRead(ApiWriter& writer, Kind kind, const nlohmann::json& object) {
  const nlohmann::json& meta = object.at("metadata");
  const api::ObjectKey key{meta.value("namespace", ""), meta.at("name").get<std::string>()};
  Result<nlohmann::json> created = writer.Create(kind, object, false);
  if (created || created.error().kind != ErrorKind::kConflict) return created;
  Result<nlohmann::json> stored = writer.Get({kind, key, "", ""});
  return !stored && stored.error().kind == ErrorKind::kNotFound ? created : stored;
}

}  // namespace weft::controllers
