#include "tests/world/faithful_script.h"

#include <array>
#include <utility>

#include "operator/api/json_text.h"

namespace weft::world {
namespace {

constexpr kube::Resource kServiceAccounts{"", "v1", "serviceaccounts", "ServiceAccount", true};

// Puts a side's words in: UID, VERSION, STALE.
Json Filled(const Json& value, const Side& side, const std::string& path) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    if (text == "UID") return side.Uid(path, 0);
    if (text == "VERSION") return side.Version(path, 0);
    if (text == "STALE") return side.Version(path, 1);
    return value;
  }
  if (!value.is_structured()) return value;
  Json filled = value;
  for (auto& [name, member] : filled.items()) member = Filled(Json(member), side, path);
  return filled;
}

Json Named(Json object, const api::ObjectKey& key, const std::string& label) {
  object["metadata"]["name"] = key.name;
  if (!key.space.empty()) object["metadata"]["namespace"] = key.space;
  if (!label.empty()) object["metadata"]["labels"] = {{"app", label}};
  if (object.contains("regarding")) object["regarding"]["namespace"] = key.space;
  return object;
}

void MergeInto(Json& target, const Json& patch) { target.merge_patch(patch); }

}  // namespace

Script::Script(std::uint64_t seed, const std::string& run)
    : prefix_("f" + std::to_string(seed) + run), random_(seed) {
  spaces_ = {prefix_ + "-a", prefix_ + "-b"};
}

std::vector<Step> Script::Begin() const {
  std::vector<Step> steps;
  for (const std::string& space : spaces_) {
    steps.push_back(
        {"create namespace " + space, [space](const Side&) {
           return kube::CreateRequest(kube::kNamespaces, {{"metadata", {{"name", space}}}}, {});
         }});
    steps.push_back(
        {"create service account in " + space, [space](const Side&) {
           const Json account = {{"metadata", {{"name", "default"}, {"namespace", space}}}};
           return kube::CreateRequest(kServiceAccounts, account, {});
         }});
  }
  return steps;
}

std::string Script::AnySpace() { return spaces_[Chance(80) ? 0 : 1]; }

Script::Chosen Script::Choose() {
  int total = 0;
  for (const Subject& subject : Subjects()) total += subject.weight;
  auto left = static_cast<int>(Below(static_cast<std::size_t>(total)));
  const Subject* chosen = nullptr;
  for (const Subject& subject : Subjects()) {
    chosen = &subject;
    left -= subject.weight;
    if (left < 0) break;
  }
  constexpr std::array<const char*, 3> kNames = {"a", "b", "c"};
  std::string name = Any(kNames);
  api::ObjectKey key{AnySpace(), name};
  if (!chosen->resource.namespaced) key = {"", prefix_ + "-" + name};
  // Of several quotas in a namespace the real one writes some first, by chance.
  if (chosen->resource.kind == "ResourceQuota") key.name = "a";
  return {chosen, chosen->resource, key, kube::PathOf(chosen->resource, key)};
}

Script::Chosen Script::ChoosePod() {
  Chosen chosen = Choose();
  while (chosen.subject != &Subjects()[0]) chosen = Choose();
  return chosen;
}

kube::Write Script::AnyWrite() {
  kube::Write write;
  write.dry_run = Chance(10);
  return write;
}

Step Script::Create() {
  const Chosen chosen = Choose();
  constexpr std::array<const char*, 3> kLabels = {"", "x", "y"};
  Json object = Named(chosen.subject->object, chosen.key, Any(kLabels));
  if (Chance(10)) object["metadata"]["finalizers"] = {"weft.dev/a"};
  if (Chance(5)) object["metadata"]["uid"] = "33333333-3333-4333-8333-333333333333";
  if (!chosen.subject->statuses.empty() && Chance(5)) object["status"] = Json::object();
  if (Chance(3)) object["metadata"]["name"] = "Not A Name";
  if (Chance(2)) object["metadata"]["resourceVersion"] = "1";
  if (chosen.resource.kind == "Pod" && Chance(50)) object["spec"].erase("schedulingGates");
  kube::Write write = AnyWrite();
  const kube::Resource resource = chosen.resource;
  return {"create " + chosen.path,
          [=](const Side&) { return kube::CreateRequest(resource, object, write); }};
}

Step Script::Get() {
  const Chosen chosen = Choose();
  return {"get " + chosen.path,
          [=](const Side&) { return kube::GetRequest(chosen.resource, chosen.key); }};
}

Step Script::List() {
  const Chosen chosen = Choose();
  kube::Request request = kube::GetRequest(chosen.resource, {chosen.key.space, ""});
  if (Chance(50) || !chosen.resource.namespaced) request.query["labelSelector"] = "app in (x,y)";
  if (Chance(20)) request.query["labelSelector"] = "app!=x,app";
  if (Chance(20)) request.query["fieldSelector"] = "metadata.name=" + chosen.key.name;
  if (Chance(5)) request.query["fieldSelector"] = "spec.nodeName=n1";
  if (Chance(30)) request.query["limit"] = "1";
  if (!chosen.resource.namespaced) {
    request.query["fieldSelector"] = "metadata.name=" + chosen.key.name;
  }
  return {"list " + request.path + " " + Json(request.query).dump(),
          [=](const Side&) { return request; }};
}

Step Script::Watch() {
  const Chosen chosen = Choose();
  const std::size_t back = Below(3);
  const bool selects = Chance(50);
  return {"watch " + chosen.path + " from " + std::to_string(back),
          [=](const Side& side) {
            kube::Request request = kube::GetRequest(chosen.resource, {chosen.key.space, ""});
            request.query = {{"watch", "true"},
                             {"timeoutSeconds", "1"},
                             {"resourceVersion", side.Version(chosen.path, back)}};
            if (selects) request.query["labelSelector"] = "app=x";
            if (chosen.key.space.empty()) {
              request.query["fieldSelector"] = "metadata.name=" + chosen.key.name;
            }
            return request;
          },
          true};
}

Step Script::Replace() {
  const Chosen chosen = Choose();
  const Json object = Named(chosen.subject->object, chosen.key, "x");
  const bool of_status = !chosen.subject->statuses.empty() && Chance(20);
  // With a spec of wrong types in a status, the real one forgets all owners (managedFields).
  const std::vector<Json>& changes = of_status ? chosen.subject->statuses : chosen.subject->patches;
  const Json change = Chance(50) ? Any(changes) : Any(MetadataPatches());
  const std::size_t version = Below(6);
  const bool wrong_uid = Chance(5);
  kube::Write write = AnyWrite();
  if (of_status) write.subresource = "status";
  return {"replace " + chosen.path + " " + std::string(write.subresource) + " " + change.dump(),
          [=](const Side& side) {
            Json next = side.Last(chosen.path);
            if (next.is_null()) next = object;
            Json& metadata = next["metadata"];
            metadata["resourceVersion"] = side.Version(chosen.path, version == 0 ? 1 : 0);
            // What is written without a version may be older than the object: a deletion's time
            // would change, and with it only the time's owner (managedFields).
            if (version == 1) {
              for (const char* name : {"resourceVersion", "deletionTimestamp"})
                metadata.erase(name);
            }
            if (wrong_uid) metadata["uid"] = "44444444-4444-4444-8444-444444444444";
            const bool fresh = side.Last(chosen.path).is_null();
            if (!fresh) MergeInto(next, Filled(change, side, chosen.path));
            next["metadata"]["name"] = chosen.key.name;
            if (!chosen.key.space.empty()) next["metadata"]["namespace"] = chosen.key.space;
            return kube::ReplaceRequest(chosen.resource, next, write);
          }};
}

Step Script::Merge() {
  const Chosen chosen = Choose();
  const Json patch = Chance(50) ? Any(chosen.subject->patches) : Any(MetadataPatches());
  const kube::Write write = AnyWrite();
  return {"merge " + chosen.path + " " + patch.dump() + (write.dry_run ? " dry" : ""),
          [=](const Side& side) {
            const Json body = Filled(patch, side, chosen.path);
            return kube::PatchRequest(chosen.resource, chosen.key, {kube::PatchType::kMerge, body},
                                      write);
          }};
}

Step Script::PatchJson() {
  const Chosen chosen = Choose();
  const Json patch = Any(JsonPatches());
  const kube::Write write = AnyWrite();
  return {"json patch " + chosen.path + " " + patch.dump() + (write.dry_run ? " dry" : ""),
          [=](const Side& side) {
            const Json body = Filled(patch, side, chosen.path);
            return kube::PatchRequest(chosen.resource, chosen.key, {kube::PatchType::kJson, body},
                                      write);
          }};
}

Step Script::Apply() {
  Chosen chosen = Choose();
  const auto applies = [](const kube::Resource& resource) {
    return resource.kind == "ConfigMap" || resource.kind == "Placement";
  };
  while (!applies(chosen.resource)) chosen = Choose();
  const bool whole = Chance(70) || chosen.resource.kind != "ConfigMap";
  Json object = whole ? chosen.subject->object
                      : Json{{"apiVersion", chosen.subject->object["apiVersion"]},
                             {"kind", chosen.subject->object["kind"]}};
  object = Named(object, chosen.key, Chance(50) ? "x" : "");
  if (object.contains("spec")) object["spec"].erase("unknownField");
  if (Chance(30)) object["metadata"]["annotations"] = {{"by", "apply"}};
  if (Chance(30) && object.contains("data")) object["data"]["b"] = Chance(50) ? "1" : "2";
  if (Chance(30) && object.contains("spec")) object["spec"]["workers"] = 2 + Below(2);
  kube::Write write = AnyWrite();
  write.field_manager = Chance(70) ? "one" : "two";
  write.force = Chance(60);
  return {"apply " + chosen.path + " by " + write.field_manager + (write.force ? " forced " : " ") +
              object.dump() + (write.dry_run ? " dry" : ""),
          [=](const Side&) {
            return kube::PatchRequest(chosen.resource, chosen.key,
                                      {kube::PatchType::kApply, object}, write);
          }};
}

Step Script::PatchStatus() {
  Chosen chosen = Choose();
  while (chosen.subject->statuses.empty()) chosen = Choose();
  const Json patch = Any(chosen.subject->statuses);
  kube::Write write = AnyWrite();
  write.subresource = "status";
  return {"merge status " + chosen.path + " " + patch.dump() + (write.dry_run ? " dry" : ""),
          [=](const Side& side) {
            const Json body = Filled(patch, side, chosen.path);
            return kube::PatchRequest(chosen.resource, chosen.key, {kube::PatchType::kMerge, body},
                                      write);
          }};
}

Step Script::Delete() {
  const Chosen chosen = Choose();
  constexpr std::array<const char*, 6> kPolicies = {"",           "",           "Background",
                                                    "Background", "Foreground", "Orphan"};
  kube::Deletion how;
  how.propagation = Any(kPolicies);
  if (Chance(30)) how.grace_seconds = static_cast<std::int64_t>(Below(3) * 5);
  const std::size_t uid = Below(5), version = Below(6);
  const bool dry = Chance(10);
  return {"delete " + chosen.path + " " + how.propagation + " grace " +
              std::to_string(how.grace_seconds.value_or(-1)) + (dry ? " dry" : ""),
          [=](const Side& side) {
            kube::Deletion filled = how;
            if (uid < 2) filled.only.uid = side.Uid(chosen.path, uid);
            if (version < 2) filled.only.resource_version = side.Version(chosen.path, version);
            kube::Request request = kube::DeleteRequest(chosen.resource, chosen.key, filled);
            // The trial of a deletion that would take the last finalizers off is answered with an
            // empty object.
            const Json last = side.Last(chosen.path);
            if (!dry || (last.is_object() && last["metadata"].contains("finalizers"))) {
              return request;
            }
            Json body = api::ParseJson(request.body);
            body["dryRun"] = {"All"};
            request.body = api::JsonText(body);
            return request;
          }};
}

Step Script::DeleteAll() {
  Chosen chosen = Choose();
  while (!chosen.resource.namespaced || chosen.resource.kind == "Service") chosen = Choose();
  const std::string label = Chance(50) ? "app=x" : "app in (x,y)";
  return {"delete all " + chosen.path + " " + label, [=](const Side&) {
            return kube::DeleteCollectionRequest(chosen.resource, chosen.key.space, label, {});
          }};
}

Step Script::Bind() {
  const Chosen chosen = ChoosePod();
  const bool names_uid = Chance(50);
  return {"bind " + chosen.path, [=](const Side& side) {
            kube::Request request;
            request.method = kube::Method::kPost;
            request.path = chosen.path + "/binding";
            request.content_type = "application/json";
            Json body = {{"apiVersion", "v1"},
                         {"kind", "Binding"},
                         {"metadata", {{"name", chosen.key.name}, {"namespace", chosen.key.space}}},
                         {"target", {{"kind", "Node"}, {"name", "n1"}}}};
            const std::string uid = side.Uid(chosen.path, 0);
            if (names_uid && !uid.empty()) body["metadata"]["uid"] = uid;
            request.body = api::JsonText(body);
            return request;
          }};
}

Step Script::Evict() {
  const Chosen chosen = ChoosePod();
  const std::size_t uid = Below(4);
  return {"evict " + chosen.path, [=](const Side& side) {
            kube::Deletion how;
            how.propagation = "";
            if (uid < 2) how.only.uid = side.Uid(chosen.path, uid);
            return kube::EvictRequest(chosen.key, how);
          }};
}

Step Script::Namespace() {
  const api::ObjectKey key{"", spaces_[1]};
  const std::size_t act = Below(4);
  return {
      "namespace " + key.name + " act " + std::to_string(act), [=](const Side& side) {
        const std::string path = kube::PathOf(kube::kNamespaces, key);
        Json object = side.Last(path);
        if (act == 0) return kube::DeleteRequest(kube::kNamespaces, key, {});
        if (act == 1) return kube::GetRequest(kube::kNamespaces, key);
        if (act == 2) {
          return kube::CreateRequest(kube::kNamespaces, {{"metadata", {{"name", key.name}}}}, {});
        }
        object["metadata"].erase("resourceVersion");
        object["spec"].erase("finalizers");
        kube::Request request =
            kube::ReplaceRequest(kube::kNamespaces, object, {.subresource = "finalize"});
        return request;
      }};
}

Step Script::Wrong() {
  Chosen chosen = Choose();
  while (chosen.subject->wrong.empty()) chosen = Choose();
  const auto& [path, value] = Any(chosen.subject->wrong);
  Json object = Named(chosen.subject->object, {chosen.key.space, "wrong"}, "");
  if (chosen.resource.kind != "Pod") object["spec"].erase("unknownField");
  object[Json::json_pointer(path)] = value;
  kube::Write write;
  write.dry_run = true;
  write.strict = Chance(30);
  const kube::Resource resource = chosen.resource;
  return {"create wrong " + chosen.path + " " + path + " = " + value.dump() +
              (write.strict ? " strict" : ""),
          [=](const Side&) { return kube::CreateRequest(resource, object, write); }};
}

Step Script::Next() {
  struct Entry {
    int weight;
    Step (Script::*make)();
  };
  constexpr std::array<Entry, 15> kTable = {{{20, &Script::Create},
                                             {5, &Script::Get},
                                             {5, &Script::List},
                                             {3, &Script::Watch},
                                             {10, &Script::Replace},
                                             {16, &Script::Merge},
                                             {8, &Script::PatchJson},
                                             {6, &Script::Apply},
                                             {10, &Script::PatchStatus},
                                             {9, &Script::Delete},
                                             {1, &Script::DeleteAll},
                                             {5, &Script::Bind},
                                             {3, &Script::Evict},
                                             {1, &Script::Namespace},
                                             {4, &Script::Wrong}}};
  int total = 0;
  for (const Entry& entry : kTable) total += entry.weight;
  auto left = static_cast<int>(Below(static_cast<std::size_t>(total)));
  for (const Entry& entry : kTable) {
    left -= entry.weight;
    if (left < 0) return (this->*entry.make)();
  }
  return Get();
}

std::vector<Step> Script::WatchAll() const {
  std::vector<Step> steps;
  const std::string first = kube::PathOf(kube::kNamespaces, {"", spaces_[0]});
  for (const Subject& subject : Subjects()) {
    const kube::Resource resource = subject.resource;
    steps.push_back({"watch all " + std::string(resource.plural),
                     [=](const Side& side) {
                       kube::Request request = kube::GetRequest(resource, {"", ""});
                       request.query = {{"watch", "true"},
                                        {"timeoutSeconds", "1"},
                                        {"resourceVersion", side.First(first)}};
                       return request;
                     },
                     true});
  }
  return steps;
}

std::vector<Step> Script::ListAll() const {
  std::vector<Step> steps;
  for (const Subject& subject : Subjects()) {
    const kube::Resource resource = subject.resource;
    for (const std::string& space : spaces_) {
      if (!resource.namespaced) continue;
      steps.push_back(
          {"list all " + std::string(resource.plural) + " in " + space, [=](const Side&) {
             return kube::GetRequest(resource, {space, ""});
           }});
    }
    for (const char* name : {"a", "b", "c"}) {
      const api::ObjectKey key{"", prefix_ + "-" + name};
      if (resource.namespaced) continue;
      steps.push_back(
          {"get " + key.name, [=](const Side&) { return kube::GetRequest(resource, key); }});
    }
  }
  return steps;
}

}  // namespace weft::world
