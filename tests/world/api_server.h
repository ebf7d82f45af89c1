#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/kube/transport.h"

namespace weft::world {

using Json = nlohmann::json;

// One change of one object, in the order of versions.
struct Change {
  enum class Type : std::uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  std::uint64_t version = 0;
  std::string resource;  // "pods", "placements.weft.dev"
  api::ObjectKey key;
  std::shared_ptr<const Json> object;  // after it; of a deletion: the last state, with its version
  std::shared_ptr<const Json> before;  // null: added
  std::string user;                    // whose request made it
};

const char* NameOf(Change::Type type);  // "ADDED", as in a watch

// A watch of one collection: gives the frames of its changes as a client may see them.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
  // The frames (lines of JSON) of changes up to this version that were not taken yet, "" if there
  // are none. After an ERROR frame (410) `ended` is true.
  virtual std::string Take(std::uint64_t up_to) = 0;
  // A BOOKMARK frame at the version that was taken last, or up to `up_to` if nothing is between.
  virtual std::string Bookmark(std::uint64_t up_to) = 0;
  virtual bool ended() const = 0;
};

// An API server in memory: it answers the requests that Weft, the models of other controllers and
// users make, as kube-apiserver does (tests/world/faithful_test compares both).
//
// It has   versions, uids, generation, managedFields left out; compare-and-swap; merge, JSON and
//          apply patches; status as a subresource; dry run; the schemas and limits of the given
//          definitions, with pruning and defaults; finalizers, grace periods of pods, propagation;
//          bindings, evictions; ResourceQuota; rights (RBAC); lists in pages and as streams;
//          watches with bookmarks and 410.
// Thread-safety  none.
class ApiServer {
 public:
  struct Options {
    std::vector<Json> definitions;              // CustomResourceDefinitions, of crds/ and of Kueue
    std::function<std::int64_t()> now_seconds;  // since 1970, for timestamps
    std::uint64_t seed = 1;                     // of uids and generated names
    // A new node is not ready. Only the node lifecycle controller takes the taint off.
    bool taints_new_nodes = false;
    std::size_t kept_changes = 2'000;  // of each resource; a watch from before them gets 410
    bool pod_groups = false;           // serves them (scheduling.k8s.io/v1beta1)
  };
  explicit ApiServer(Options options);
  ~ApiServer();

  // Answers any request but a watch.
  kube::Response Handle(const kube::Request& request, const std::string& user);
  // A watch, or the refusal (403, 404, 410) with which it ends at once.
  struct Opened {
    std::unique_ptr<WatchStream> stream;  // null: refused
    kube::Response refusal;
  };
  Opened Open(const kube::Request& request, const std::string& user);

  // What may happen to a write before it is stored, in this order: `admission` may change the new
  // object (null before: a create; null object: a delete) or answer with a Status of its own.
  struct Attempt {
    std::string resource, subresource, user;
    api::ObjectKey key;
    const Json* before = nullptr;
    Json* object = nullptr;
    bool dry_run = false;
  };
  using Admission = std::function<std::optional<kube::Response>(const Attempt& attempt)>;
  void SetAdmission(Admission admission);
  // Asked after it, of objects that are valid: the place of admission policies.
  void SetValidation(Admission validation);
  // Rules of RBAC by user (apiGroups, resources, resourceNames, verbs; "namespaces", ours: where
  // they hold, absent: everywhere). A user without an entry may do everything.
  void SetRights(const std::string& user, const std::vector<Json>& rules);
  // Whether these rights allow it. `subresource` may be "".
  bool MayDo(const std::string& user, const std::string& verb, const std::string& resource,
             const std::string& subresource, const std::string& space) const;
  // So many next creates that count against a ResourceQuota get 409, as after a concurrent update
  // of its usage.
  void SetQuotaConflicts(int count);
  // The feature gate GenericWorkload. kMixed: several API servers take turns by chance, as in the
  // middle of an upgrade, and half of them lack it: pods lose schedulingGroup, and those servers
  // know no PodGroups to create. kOff: all lack it, but PodGroups of before are served.
  enum class GroupGate : std::uint8_t { kOn, kMixed, kOff };
  void SetGroupGate(GroupGate gate);
  // Called after each change is stored.
  void SetOnChange(std::function<void(const Change&)> on_change);

  std::uint64_t version() const;  // of the last change
  // The object, or null.
  std::shared_ptr<const Json> Find(const std::string& resource, const api::ObjectKey& key) const;
  // All objects of a resource.
  const std::map<api::ObjectKey, std::shared_ptr<const Json>>& All(
      const std::string& resource) const;
  // Changes of all resources after this version.
  std::vector<std::shared_ptr<const Change>> ChangesAfter(std::uint64_t version) const;
  // Names of resources, the path of an object, and the resource of a kind ("" if unknown).
  std::vector<std::string> resources() const;
  bool IsNamespaced(const std::string& resource) const;
  std::string PathOf(const std::string& resource, const api::ObjectKey& key,
                     const std::string& subresource = "") const;
  std::string ResourceOf(const std::string& api_version, const std::string& kind) const;

  // As after a restore of a backup: all objects as they were at this version (kept by Checkpoint).
  // Forgets all changes so far: watches from before get 410.
  void Compact();
  std::uint64_t Checkpoint();
  void Restore(std::uint64_t checkpoint);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

bool IsDeleting(const Json& object);  // whether it has a deletionTimestamp

// A Status answer as the API server gives it.
kube::Response StatusAnswer(int code, const std::string& reason, const std::string& message);

}  // namespace weft::world
