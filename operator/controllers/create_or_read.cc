#include "operator/controllers/create_or_read.h"

#include <nlohmann/json.hpp>
#include <string>

namespace weft::controllers {

namespace {

// A create is answered 409 also if the quota of its namespace was written at the same time
// (kubernetes/kubernetes 67761), which is usual while many pods are created.
constexpr int kCreateTries = 3;

}  // namespace

Result<nlohmann::json> CreateOrRead(ApiWriter& writer, Kind kind, const nlohmann::json& object) {
  const nlohmann::json& meta = object.at("metadata");
  const api::ObjectKey key{meta.value("namespace", ""), meta.at("name").get<std::string>()};
  Result<nlohmann::json> stored = Error{};
  for (int tries = 0; tries < kCreateTries; ++tries) {
    stored = writer.Create(kind, object, false);
    if (stored || stored.error().kind != ErrorKind::kConflict) break;
    Error conflict = stored.error();
    stored = writer.Get({kind, key, "", ""});
    if (stored || stored.error().kind != ErrorKind::kNotFound) break;
    stored = std::move(conflict);
  }
  return stored;
}

}  // namespace weft::controllers
