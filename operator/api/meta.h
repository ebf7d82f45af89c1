#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/base/text_map.h"

namespace weft::api {

inline constexpr const char* kGroup = "weft.dev";
inline constexpr const char* kVersion = "v1alpha1";
inline constexpr const char* kGate = "weft.dev/placement";
inline constexpr const char* kJobNameLabel = "weft.dev/job-name";
inline constexpr const char* kDefaultFabricLabel = "weft.dev/default-fabric";

struct ObjectKey {
  std::string space;  // namespace; "" for cluster-scoped kinds
  std::string name;

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};
std::string Show(const ObjectKey& key);  // "space/name", or "name"

struct OwnerReference {
  std::string api_version, kind, name, uid;
  bool controller = false;
};

struct ObjectMeta {
  ObjectKey key;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  std::string creation_timestamp;  // RFC 3339; "" if absent
  bool deleting = false;
  std::string deletion_timestamp;  // when the grace period ends; "" unless deleted
  TextMap labels;
  TextMap annotations;
  std::vector<std::string> finalizers;
  std::vector<OwnerReference> owners;
};

// The TrainingJob that controls the object, by owner reference; nullptr if there is none. Labels
// are not trusted, because anybody may write them.
const OwnerReference* ControllingJob(const ObjectMeta& meta);

struct Condition {
  std::string type, status, reason, message, last_transition_time;
  std::int64_t observed_generation = 0;  // 0: absent

  friend bool operator==(const Condition&, const Condition&) = default;
};

// Where an object came from, for messages: "jobs.yaml: document 2: TrainingJob team-a/x".
using Place = std::string;

// The JSON of the object as it was read, for `weft snapshot`; shared, never changed.
using Raw = std::shared_ptr<const nlohmann::json>;

}  // namespace weft::api
