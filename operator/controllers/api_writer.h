#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "operator/api/meta.h"
#include "operator/base/result.h"

namespace weft::controllers {

// The kinds that the operator writes, or reads by a single request instead of a watch.
enum class Kind : std::uint8_t {
  kPod,
  kService,
  kConfigMap,
  kSecret,
  kComputeDomain,
  kClaimTemplate,
  kPodGroup,
  kPlacement,
  kTrainingJob,
  kFabric,
  kResourceQuota,  // never written
  kWorkload,
  kAdmissionCheck,
  kWorkloadPriorityClass,  // never written
};

// Identifies the object of a write: a later object of the same name has another
// uid.
struct Target {
  Kind kind = Kind::kPod;
  api::ObjectKey key;
  std::string uid;               // "": any
  std::string resource_version;  // "": any
};

// The writes of the operator; each is one request to the API server.
//
// Errors  kConflict: the object changed, or exists already; kNotFound; kInvalid: the server refuses
//         the write (the message is the server's); kTransient: no answer, too many requests, or a
//         broken server.
// Thread-safety  all calls may run at once.
class ApiWriter {
 public:
  virtual ~ApiWriter() = default;
  // Returns the object as stored. `dry_run`: it passes all of admission but is not stored.
  virtual Result<nlohmann::json> Create(Kind kind, const nlohmann::json& object, bool dry_run) = 0;
  // Without a name: lists all objects in the namespace.
  virtual Result<nlohmann::json> Get(const Target& target) = 0;
  // Reads an object of another controller's kind that may control pods; kNotFound for a kind that
  // is not in OwnerResource (kube_writer.cc).
  virtual Result<nlohmann::json> GetOwner(const api::OwnerReference& owner,
                                          const std::string& space);
  // Warnings about pods in the namespace, as a list of events of the core group: some hundred at
  // most, and none of those that are many and tell nothing of a start (FailedScheduling, BackOff).
  virtual Result<nlohmann::json> WarningsIn(const std::string& space);
  // Likewise, the events that tell that images of pods are being pulled, or have been.
  virtual Result<nlohmann::json> PullsIn(const std::string& space);
  // JSON merge patch of the object, or of its status; returns the object as stored.
  virtual Result<nlohmann::json> Patch(const Target& target, const nlohmann::json& patch) = 0;
  virtual Result<nlohmann::json> PatchStatus(const Target& target, const nlohmann::json& patch) = 0;
  // JSON patch (RFC 6902): changes nothing unless every `test` operation succeeds.
  virtual Result<nlohmann::json> PatchExactly(const Target& target,
                                              const nlohmann::json& operations) = 0;
  // An object that is already gone counts as deleted.
  virtual Status Delete(const Target& target) = 0;
  virtual Status Evict(const Target& target) = 0;
};

}  // namespace weft::controllers
