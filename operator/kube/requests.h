#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "operator/kube/resource.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Identifies the object of a write: a later object of the same name has another uid.
struct Precondition {
  std::string uid;               // "": any
  std::string resource_version;  // "": any
};

// Options of a write.
struct Write {
  std::string field_manager = "weft";
  std::string_view subresource = "";  // "status"
  bool dry_run = false;
  bool force = false;   // apply only: takes fields from other managers
  bool strict = false;  // unknown and duplicate fields are errors instead of being dropped
};

enum class PatchType : std::uint8_t {
  kMerge,  // preconditions: uid and resourceVersion in its metadata
  kJson,   // preconditions: leading `test` operations
  kApply,  // server-side apply: all fields that this manager owns, with apiVersion and kind
};

struct Deletion {
  Precondition only{};
  std::string propagation = "Background";       // Foreground, Orphan
  std::optional<std::int64_t> grace_seconds{};  // unset: the object's default
};

// Requests as values. For lists and watches see watch.h.
Request GetRequest(const Resource& resource, const api::ObjectKey& key);
// The namespace comes from the metadata of `object`; for PUT also the name.
Request CreateRequest(const Resource& resource, const nlohmann::json& object, const Write& write);
Request ReplaceRequest(const Resource& resource, const nlohmann::json& object, const Write& write);
struct Patch {
  PatchType type = PatchType::kMerge;
  const nlohmann::json& body;
};
Request PatchRequest(const Resource& resource, const api::ObjectKey& key, const Patch& patch,
                     const Write& write);
Request DeleteRequest(const Resource& resource, const api::ObjectKey& key, const Deletion& how);
// Deletes the objects of a namespace that have the labels ("weft.dev/job-name=x"). Precondition:
// there is a label.
Request DeleteCollectionRequest(const Resource& resource, const std::string& space,
                                const std::string& label_selector, const Deletion& how);
Request EvictRequest(const api::ObjectKey& pod, const Deletion& how);

}  // namespace weft::kube
