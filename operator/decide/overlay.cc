#include "operator/decide/overlay.h"

#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "operator/api/decode.h"
#include "operator/decide/workload.h"

namespace weft::decide {
namespace {

using Json = nlohmann::json;

Result<api::TrainingJob> Decode(const Json& object, const api::TrainingJob& was) {
  return api::DecodeTrainingJob(object, was.place);
}
Result<api::Placement> Decode(const Json& object, const api::Placement& was) {
  return api::DecodePlacement(object, was.place);
}

// What an API server keeps of the live object when only its spec is applied.
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
  for (const char* key : {kExcludedNodesAnnotation, kAvoidedNodesAnnotation, kWaitedAnnotation}) {
    if (const auto told = live.meta.annotations.At(key)) decoded->meta.annotations.Add(key, *told);
  }
  wanted = *std::move(decoded);
  return {};
}

template <typename Kind>
Status Inherit(const Kind&, Kind&) requires(!requires(Kind kind) { kind.conditions; }) {
  return {};
}

// Replaces in place what is there already and adds the rest. Returns by index into `wanted` where
// each now stands.
template <typename Kind>
Result<std::vector<std::size_t>> Merge(std::vector<Kind> wanted, std::vector<Kind>& live) {
  std::map<api::ObjectKey, std::size_t> by_key;
  for (std::size_t i = 0; i < live.size(); ++i) by_key.emplace(live[i].meta.key, i);
  std::vector<std::size_t> places;
  for (Kind& object : wanted) {
    const auto found = by_key.find(object.meta.key);
    if (found == by_key.end()) {
      places.push_back(live.size());
      live.push_back(std::move(object));
      continue;
    }
    if (Status kept = Inherit(live[found->second], object); !kept) return kept.error();
    places.push_back(found->second);
    live[found->second] = std::move(object);
  }
  return places;
}

template <typename Kind>
void Merge(const SharedList<Kind>& wanted, SharedList<Kind>& live) {
  std::map<api::ObjectKey, std::size_t> by_key;
  for (std::size_t i = 0; i < live.size(); ++i) by_key.emplace(live[i].meta.key, i);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto found = by_key.find(wanted[i].meta.key);
    if (found == by_key.end()) {
      live.push_back(wanted.Share(i));
    } else {
      live.Replace(found->second, wanted.Share(i));
    }
  }
}

}  // namespace

Result<api::Inputs> Overlay(api::Inputs live, api::Inputs wanted) {
  const std::size_t live_jobs = live.jobs.size(), live_placements = live.placements.size();
  const auto jobs = Merge(std::move(wanted.jobs), live.jobs);
  const auto placements = Merge(std::move(wanted.placements), live.placements);
  for (const auto* merged : {&jobs, &placements}) {
    if (!*merged) return merged->error();
  }
  Merge(wanted.nodes, live.nodes);
  Merge(wanted.pods, live.pods);
  for (const auto& rest : {Merge(std::move(wanted.fabrics), live.fabrics),
                           Merge(std::move(wanted.namespaces), live.namespaces),
                           Merge(std::move(wanted.priority_classes), live.priority_classes)}) {
    if (!rest) return rest.error();
  }
  for (const auto& entry : wanted.order) {
    const std::size_t at = entry.is_job ? (*jobs)[entry.index] : (*placements)[entry.index];
    const bool added = at >= (entry.is_job ? live_jobs : live_placements);
    if (added) live.order.push_back({entry.is_job, at});
  }
  for (std::string& note : wanted.notes) live.notes.push_back(std::move(note));
  return live;
}

}  // namespace weft::decide
