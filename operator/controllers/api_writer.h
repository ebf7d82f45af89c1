#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/meta.h"
#include "operator/base/result.h"

namespace weft::controllers {

// The kinds that the operator writes or asks for.
enum class Kind : std::uint8_t {
  kPod,
  kService,
  kConfigMap,
  kSecret,
  kPlacement,
  kTrainingJob,
  kFabric,
  kResourceQuota,  // never written
};

// Identifies the object of a write. A later object of the same name is another
// one.
struct Target {
  Kind kind = Kind::kPod;
  api::ObjectKey key;
  std::string uid;               // "" any
  std::string resource_version;  // "" any
};

// The writes of an operator, each one request to the API server.
//
// Errors  kConflict: it changed, or exists already; kNotFound; kInvalid: the server refuses it,
// with
//         its words; kTransient: no answer, too many requests, or a broken server.
// Thread-safety  all calls may run at once.
class ApiWriter {
 public:
  virtual ~ApiWriter() = default;
  // The object as stored. `dry_run`: checked by the whole chain of admission, and not stored.
  virtual Result<nlohmann::json> Create(Kind kind, const nlohmann::json& object, bool dry_run) = 0;
  // Without a name: the list of all in that namespace.
  virtual Result<nlohmann::json> Get(const Target& target) = 0;
  // JSON merge patch of the object, or of its status; the object as stored.
  virtual Result<nlohmann::json> Patch(const Target& target, const nlohmann::json& patch) = 0;
  virtual Result<nlohmann::json> PatchStatus(const Target& target, const nlohmann::json& patch) = 0;
  // JSON patch (RFC 6902): nothing is changed unless every test holds.
  virtual Result<nlohmann::json> PatchExactly(const Target& target,
                                              const nlohmann::json& operations) = 0;
  // An object that is gone already counts as deleted.
  virtual Status Delete(const Target& target) = 0;
  virtual Status Evict(const Target& target) = 0;
};

}  // namespace weft::controllers
