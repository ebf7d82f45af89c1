#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "tests/world/answer.h"
#include "tests/world/api_server.h"
#include "tests/world/fields.h"
#include "tests/world/rbac.h"
#include "tests/world/selector.h"

namespace weft::world {

// A change with the text of its object, which all its readers share.
struct Logged {
  Change change;
  const std::string& text() const;

 private:
  mutable std::string text_;
};

using Object = std::shared_ptr<const Json>;

// What is stored of one resource.
struct Collection {
  Kind kind;
  std::map<api::ObjectKey, Object> objects;
  std::map<api::ObjectKey, std::shared_ptr<Logged>> last;  // the change that made each object
  std::deque<std::shared_ptr<Logged>> log;
  std::uint64_t forgotten = 0;  // changes up to this version are not in the log
  // Of the objects to which somebody has applied a configuration.
  std::map<api::ObjectKey, Owners> owners;
};

// What a path names.
struct Target {
  Collection* collection = nullptr;
  api::ObjectKey key;
  std::string subresource;

  const Kind& kind() const { return collection->kind; }
};

// One request with what was read from it.
struct Call {
  const kube::Request& request;
  const std::string& user;
  Target target;
  bool dry_run = false;
  bool strict = false;
  std::string manager;
  const Owners* owners = nullptr;  // of the object's parts, after an apply patch
};

// Options of a DELETE.
struct DeleteOptions {
  std::string uid, resource_version;  // "": any
  std::string propagation;            // "": the default
  std::optional<std::int64_t> grace;  // unset: the object's default
};

struct ApiServer::State {
  explicit State(Options given);

  // requests
  std::optional<Target> Route(const std::string& path);
  kube::Response Handle(const kube::Request& request, const std::string& user);
  Opened Open(const kube::Request& request, const std::string& user);
  // The target's name is that of the request or of its selector.
  bool MayDo(const std::string& user, const std::string& verb, const Target& target) const;
  Refusal CheckRights(const Call& call, const std::string& verb, const Selector& selector) const;

  // reads
  kube::Response Get(const Call& call);
  kube::Response List(const Call& call);
  // The objects of the collection at a version; nothing if the log does not reach so far back.
  std::optional<std::map<api::ObjectKey, std::shared_ptr<Logged>>> ObjectsAt(
      const Collection& collection, std::uint64_t at) const;

  // writes
  kube::Response Create(const Call& call);
  kube::Response Put(const Call& call);
  kube::Response Patch(const Call& call);
  kube::Response Delete(const Call& call);
  kube::Response DeleteAll(const Call& call);
  kube::Response Bind(const Call& call);
  kube::Response Evict(const Call& call);
  kube::Response Finalize(const Call& call);
  kube::Response CreateObject(const Call& call, Json object);
  // `next`: the object as the user wants it.
  kube::Response UpdateObject(const Call& call, const Object& before, Json next);
  kube::Response DeleteObject(const Call& call, const api::ObjectKey& key,
                              const DeleteOptions& how);
  Refusal MergePatch(const Call& call, Json& next) const;
  Refusal JsonPatch(const Call& call, Json& next) const;
  // Server-side apply; `owners` as they are afterwards.
  Refusal ApplyPatch(const Call& call, const Object& before, Json& next, Owners& owners) const;
  Owners OwnersBefore(const Call& call, const Object& before) const;
  Refusal Admit(const Call& call, const Json* before, Json* object) const;
  Refusal Validate(const Call& call, const Json* before, Json* object) const;
  // Drops unknown fields of custom resources and adds defaults.
  Refusal Decode(const Call& call, Json& object) const;
  Refusal CheckNamespace(const Call& call) const;
  // Whether the apply patch of this call gives parts of the object to others.
  bool ChangesOwners(const Call& call) const;
  void SetOwners(const Call& call, const Json& before, const Json& after);
  Refusal CheckQuota(const Call& call, const Json& object);
  Refusal SetPriority(const Call& call, Json& object) const;
  // Whether the server that answers this request has the feature gate GenericWorkload.
  bool HasGroupGate();
  // What its defaults and plug-ins of admission make of a new pod or PodGroup.
  Refusal AdmitPod(const Call& call, Json& pod);
  Refusal AdmitPodGroup(const Call& call, Json& group);

  // the store
  std::shared_ptr<Logged> Store(Collection& collection, const api::ObjectKey& key, Json object,
                                const std::string& user);
  std::shared_ptr<Logged> Remove(Collection& collection, const api::ObjectKey& key,
                                 const std::string& user);
  void Log(Collection& collection, std::shared_ptr<Logged> logged);
  Object Find(const std::string& resource, const api::ObjectKey& key) const;
  Collection* CollectionOf(const std::string& resource);
  const Collection* CollectionOf(const std::string& resource) const;
  std::string NewUid();
  std::string Now() const;
  void MakeNamespace(const std::string& name);

  Options options;
  SplitMix64 random;
  GroupGate group_gate = GroupGate::kOn;
  SplitMix64 group_chance{options.seed + 1};      // which of the mixed servers answers
  std::map<std::string, Collection> collections;  // by resource
  std::map<std::string, Collection*> by_path;     // by "group/version/plural"
  std::map<std::string, Rbac> rights;             // by user
  Admission admission;
  std::function<void(const Change&)> on_change;
  std::deque<std::shared_ptr<Logged>> log;  // of all resources
  std::uint64_t version = 0;
  int quota_conflicts = 0;  // so many next updates of a quota's usage meet a conflict
  struct Saved {
    std::map<api::ObjectKey, Object> objects;
    std::map<api::ObjectKey, Owners> owners;
  };
  std::map<std::uint64_t, std::map<std::string, Saved>> checkpoints;
  Admission validation;
};

// An item of a list: those of built-in kinds do not name their kind.
std::string ItemText(const Kind& kind, const Logged& logged);
// The namespace of an object must be that of the path.
Refusal CheckSpace(const Call& call, Json& metadata);
// metadata of an object; every stored object has it.
const Json& MetadataOf(const Json& object);
bool HasFinalizers(const Json& object);

}  // namespace weft::world
