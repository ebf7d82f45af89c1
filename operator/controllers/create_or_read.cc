#include "operator/controllers/create_or_read.h"

#include <algorithm>
#include <utility>

#include "operator/api/decode.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/attempt_labels.h"

namespace weft::controllers {

namespace {

using Json = nlohmann::json;

bool HasOwner(const std::vector<api::OwnerReference>& owners, const api::OwnerReference& wanted) {
  return std::any_of(owners.begin(), owners.end(), [&](const api::OwnerReference& one) {
    return one.uid == wanted.uid && one.controller == wanted.controller;
  });
}

bool IsSame(const api::ObjectMeta& wanted, const api::ObjectMeta& stored) {
  if (!wanted.owners.empty()) return HasOwner(stored.owners, wanted.owners.front());
  const auto job = wanted.labels.At(cluster::kJobUidLabel);
  return job && life::IsOfJob(stored, *job);
}

}  // namespace

std::string WhyTaken(const Json& object, const Json& stored) {
  const std::string kind = object.value("kind", "object");
  const auto wanted = api::DecodeMetadata(object, kind), there = api::DecodeMetadata(stored, kind);
  if (!wanted) return wanted.error().message;
  if (!there) return there.error().message;
  if (IsSame(*wanted, *there)) return "";
  const std::string exists = kind + " " + api::Show(there->key) + " already exists ";
  if (there->owners.empty()) return exists + "without its owner";
  const api::OwnerReference& owner = there->owners.front();
  return exists + "with another owner: " + owner.kind + " " + owner.name + " (uid " + owner.uid +
         ")";
}

Result<Named> CreateOrRead(ApiWriter& writer, Kind kind, const Json& object) {
  const Json& meta = object.at("metadata");
  const api::ObjectKey key{meta.value("namespace", ""), meta.at("name").get<std::string>()};
  Result<Json> created = writer.Create(kind, object, false);
  if (!created && created.error().kind != ErrorKind::kConflict) return created.error();
  Result<Json> stored = created ? std::move(created) : writer.Get({kind, key, "", ""});
  if (!stored && stored.error().kind == ErrorKind::kNotFound) return created.error();
  if (!stored) return stored.error();
  // Admission may have taken the owner of what was created.
  std::string taken = WhyTaken(object, *stored);
  return Named{*std::move(stored), std::move(taken)};
}

Result<Json> CreateOwn(ApiWriter& writer, Kind kind, const Json& object) {
  Result<Named> named = CreateOrRead(writer, kind, object);
  if (!named) return named.error();
  if (!named->taken.empty()) return Error{ErrorKind::kTransient, std::move(named->taken)};
  return std::move(named->object);
}

}  // namespace weft::controllers
