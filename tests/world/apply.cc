// Server-side apply.
#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

// Stands for all managers that update instead of applying.
constexpr const char* kUpdaters = "updaters";

std::string ManagerOf(const Call& call) { return call.manager + "/" + call.target.subresource; }

// What a request to this subresource cannot apply belongs to nobody.
void DropOtherParts(const Target& target, Json& config) {
  if (!target.kind().status) return;
  if (target.subresource == "status") {
    config.erase("metadata");
    config.erase("spec");
  } else {
    config.erase("status");
  }
}

kube::Response Conflicts(const FieldSet& parts) {
  Json causes = Json::array();
  std::string all;
  for (const FieldPath& part : parts) {
    causes.push_back({{"reason", "FieldManagerConflict"},
                      {"message", "conflict with another manager"},
                      {"field", TextOf(part)}});
    all += "\n- " + TextOf(part);
  }
  return Failure(409, "Conflict", "Apply failed with conflicts:" + all,
                 {{"causes", std::move(causes)}});
}

}  // namespace

// Owners are known from the first apply patch on; what the object has by then belongs to those who
// updated it.
Owners ApiServer::State::OwnersBefore(const Call& call, const Object& before) const {
  if (!before) return {};
  const auto known = call.target.collection->owners.find(call.target.key);
  if (known != call.target.collection->owners.end()) return known->second;
  Owners owners;
  TakeUpdate(*call.target.kind().shape, Json::object(), *before, kUpdaters, owners);
  return owners;
}

Refusal ApiServer::State::ApplyPatch(const Call& call, const Object& before, Json& next,
                                     Owners& owners) const {
  const Kind& kind = call.target.kind();
  if (!kind.shape) {
    return StatusAnswer(415, "UnsupportedMediaType", "only ConfigMaps and custom resources apply");
  }
  Json config = api::ParseJson(call.request.body);
  if (!config.is_object()) return BadRequest("error decoding YAML");
  DropOtherParts(call.target, config);
  const Json live = before ? *before : Json::object();
  Applied applied = Apply(*kind.shape, live, config, OwnersBefore(call, before), ManagerOf(call));
  const auto force = call.request.query.find("force");
  const bool forced = force != call.request.query.end() && force->second == "true";
  if (!applied.conflicts.empty() && !forced) return Conflicts(applied.conflicts);
  next = std::move(applied.object);
  owners = std::move(applied.owners);
  return std::nullopt;
}

bool ApiServer::State::ChangesOwners(const Call& call) const {
  if (call.owners == nullptr) return false;
  return *call.owners != OwnersBefore(call, Find(call.target.kind().resource, call.target.key));
}

void ApiServer::State::SetOwners(const Call& call, const Json& before, const Json& after) {
  auto& owners = call.target.collection->owners;
  if (call.owners != nullptr) {
    owners[call.target.key] = *call.owners;
  } else if (const auto known = owners.find(call.target.key); known != owners.end()) {
    TakeUpdate(*call.target.kind().shape, before, after, kUpdaters, known->second);
  }
  const auto known = owners.find(call.target.key);
  if (known != owners.end() && known->second.empty()) owners.erase(known);
}

}  // namespace weft::world
