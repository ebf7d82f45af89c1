#include "operator/life/pod_events.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>

#include "operator/api/json_member.h"
#include "operator/base/stable_text.h"
#include "operator/base/timestamp.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kTextBytes = 256;

// Warnings after which a pod does not start (k8s.io/kubernetes pkg/kubelet/events/event.go, and
// pkg/controller/volume/attachdetach).
constexpr auto kWarnings = std::to_array<std::string_view>(
    {"FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox",
     "FailedPodSandBoxStatus", "FailedPrepareDynamicResources", "FailedCreatePodContainer",
     "NetworkNotReady"});
// What follows when volumes and network are there.
constexpr auto kProgress =
    std::to_array<std::string_view>({"Pulling", "Pulled", "Created", "Started"});

template <typename List>
bool IsIn(const List& list, std::string_view reason) {
  return std::find(list.begin(), list.end(), reason) != list.end();
}

// When the event happened last. Events of a series have no lastTimestamp.
UnixSeconds TimeOf(const Json& event) {
  UnixSeconds latest = 0;
  const auto series = event.find("series");
  for (const std::string& text :
       {api::TextAt(event, "lastTimestamp"), api::TextAt(event, "eventTime"),
        series != event.end() && series->is_object() ? api::TextAt(*series, "lastObservedTime")
                                                     : std::string()}) {
    latest = std::max(latest, ParseTime(text).value_or(0));
  }
  return latest;
}

}  // namespace

bool WaitsInSilence(const api::Pod& pod) {
  const bool pending = pod.phase == api::PodPhase::kPending || pod.phase == api::PodPhase::kNone;
  return pending && !pod.node_name.empty() && pod.waiting.empty() && !pod.failure &&
         !pod.meta.deleting && pod.unreadable.empty();
}

std::string WaitOfEvents(const Json& list) {
  const auto items = list.find("items");
  if (items == list.end() || !items->is_array()) return "";
  const Json* newest = nullptr;
  std::tuple<bool, UnixSeconds, std::string> best;  // names the cause, when, words
  UnixSeconds progress = 0;
  for (const Json& event : *items) {
    if (!event.is_object()) continue;
    const std::string reason = api::TextAt(event, "reason"), words = api::TextAt(event, "message");
    const UnixSeconds time = TimeOf(event);
    if (IsIn(kProgress, reason)) progress = std::max(progress, time);
    if (api::TextAt(event, "type") != "Warning" || !IsIn(kWarnings, reason)) continue;
    std::tuple rank(!words.starts_with("Unable to attach or mount"), time, words);
    if (newest != nullptr && rank <= best) continue;
    newest = &event;
    best = std::move(rank);
  }
  if (newest == nullptr || (progress > 0 && progress >= std::get<1>(best))) return "";
  const std::string why = StableText(std::get<2>(best), kTextBytes);
  return api::TextAt(*newest, "reason") + (why.empty() ? "" : ": " + why);
}

}  // namespace weft::life
