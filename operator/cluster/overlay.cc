#include "operator/cluster/overlay.h"

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/cluster/workload.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;

Result<api::TrainingJob> Decode(const Json& object, const api::TrainingJob& was) {
  return api::DecodeTrainingJob(object, was.place);
}
Result<api::Placement> Decode(const Json& object, const api::Placement& was) {
  return api::DecodePlacement(object, was.place);
}

// Copies what an API server keeps of the live object if only the spec is applied.
template <typename Kind>
Status Inherit(const Kind& live, Kind& wanted) {
  if (live.raw == nullptr || wanted.raw == nullptr || wanted.raw->contains("status")) return {};
  Json object = *wanted.raw;
  if (live.raw->contains("status")) object["status"] = live.raw->at("status");
  const Json& meta = live.raw->at("metadata");
  for (const char* key : {"uid", "creationTimestamp", "deletionTimestamp"}) {
    if (meta.contains(key)) object["metadata"][key] = meta.at(key);
  }
  Result<Kind> decoded = Decode(object, wanted);
  if (!decoded) return decoded.error();
  decoded->place = wanted.place;
  decoded->wait = live.wait;
  wanted = *std::move(decoded);
  return {};
}

template <typename List>
std::map<api::ObjectKey, std::size_t> ByKey(const List& list) {
  std::map<api::ObjectKey, std::size_t> by_key;
  for (std::size_t i = 0; i < list.size(); ++i) by_key.emplace(list[i].meta.key, i);
  return by_key;
}

// Replaces existing objects in place and appends the others. Returns the new index of each object
// in `wanted`.
template <typename Kind>
Result<std::vector<std::size_t>> Merge(const SharedList<Kind>& wanted, SharedList<Kind>& live) {
  const auto by_key = ByKey(live);
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    std::shared_ptr<const Kind> object = wanted.Share(i);
    const auto found = by_key.find(object->meta.key);
    if (found == by_key.end()) {
      places.push_back(live.size());
      live.push_back(std::move(object));
      continue;
    }
    if constexpr (requires { object->raw; }) {
      Kind own = *object;
      if (Status kept = Inherit(live[found->second], own); !kept) return kept.error();
      object = std::make_shared<const Kind>(std::move(own));
    }
    places.push_back(found->second);
    live.Replace(found->second, std::move(object));
  }
  return places;
}

template <typename Kind>
void Merge(std::vector<Kind> wanted, std::vector<Kind>& live) {
  const auto by_key = ByKey(live);
  for (Kind& object : wanted) {
    const auto found = by_key.find(object.meta.key);
    if (found == by_key.end()) {
      live.push_back(std::move(object));
    } else {
      live[found->second] = std::move(object);
    }
  }
}

}  // namespace

Result<api::Inputs> Overlay(api::Inputs live, api::Inputs wanted) {
  const std::size_t live_jobs = live.jobs.size(), live_placements = live.placements.size();
  const auto jobs = Merge(wanted.jobs, live.jobs);
  const auto placements = Merge(wanted.placements, live.placements);
  for (const auto& merged :
       {jobs, placements, Merge(wanted.nodes, live.nodes), Merge(wanted.pods, live.pods),
        Merge(wanted.resource_slices, live.resource_slices),
        Merge(wanted.resource_claims, live.resource_claims),
        Merge(wanted.claim_templates, live.claim_templates),
        Merge(wanted.channel_templates, live.channel_templates),
        Merge(wanted.volumes, live.volumes), Merge(wanted.volume_claims, live.volume_claims),
        Merge(wanted.csi_nodes, live.csi_nodes), Merge(wanted.workloads, live.workloads)}) {
    if (!merged) return merged.error();
  }
  Merge(std::move(wanted.fabrics), live.fabrics);
  Merge(std::move(wanted.namespaces), live.namespaces);
  Merge(std::move(wanted.priority_classes), live.priority_classes);
  Merge(std::move(wanted.device_classes), live.device_classes);
  Merge(std::move(wanted.storage_classes), live.storage_classes);
  Merge(std::move(wanted.admission_checks), live.admission_checks);
  Merge(std::move(wanted.resource_flavors), live.resource_flavors);
  if (wanted.learned_steps) live.learned_steps = std::move(wanted.learned_steps);
  for (const auto& entry : wanted.order) {
    const std::size_t at = entry.is_job ? (*jobs)[entry.index] : (*placements)[entry.index];
    const bool added = at >= (entry.is_job ? live_jobs : live_placements);
    if (added) live.order.push_back({entry.is_job, at});
  }
  for (std::string& note : wanted.notes) live.notes.push_back(std::move(note));
  return live;
}

}  // namespace weft::cluster
