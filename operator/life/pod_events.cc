#include "operator/life/pod_events.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

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
// Between two tries a kubelet waits for at most 2 min 2 s, and once it has told 25 events of a pod
// it tells one each five minutes.
constexpr UnixSeconds kSameCauseSeconds = 330;

bool KeepsFromStarting(const Json& event) {
  return api::TextAt(event, "type") == "Warning" &&
         std::find(kWarnings.begin(), kWarnings.end(), api::TextAt(event, "reason")) !=
             kWarnings.end();
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

// The newest warning of a pod, and the newest that names a cause.
struct Warnings {
  const Json* newest = nullptr;
  const Json* cause = nullptr;
  UnixSeconds newest_time = 0, cause_time = 0;

  void Add(const Json& event) {
    const UnixSeconds time = TimeOf(event);
    if (newest == nullptr || time > newest_time) newest = &event, newest_time = time;
    if (api::TextAt(event, "message").starts_with("Unable to attach or mount")) return;
    if (cause == nullptr || time > cause_time) cause = &event, cause_time = time;
  }
  std::string Text() const {
    const bool has_cause = cause != nullptr && newest_time - cause_time <= kSameCauseSeconds;
    const Json& event = has_cause ? *cause : *newest;
    const std::string why = StableText(api::TextAt(event, "message"), kTextBytes);
    return api::TextAt(event, "reason") + (why.empty() ? "" : ": " + why);
  }
};

}  // namespace

bool WaitsInSilence(const api::Pod& pod) {
  const bool pending = pod.phase == api::PodPhase::kPending || pod.phase == api::PodPhase::kNone;
  return pending && !pod.node_name.empty() && !pod.has_sandbox && pod.waiting.empty() &&
         !pod.failure && !pod.meta.deleting && pod.unreadable.empty();
}

std::map<std::string, std::string> WaitsOfEvents(const Json& list) {
  const auto items = list.find("items");
  if (items == list.end() || !items->is_array()) return {};
  std::map<std::string, Warnings> of_pod;
  for (const Json& event : *items) {
    if (!event.is_object() || !KeepsFromStarting(event)) continue;
    const auto about = event.find("involvedObject");
    if (about == event.end() || !about->is_object()) continue;
    of_pod[api::TextAt(*about, "uid")].Add(event);
  }
  std::map<std::string, std::string> waits;
  for (const auto& [uid, warnings] : of_pod) waits[uid] = warnings.Text();
  return waits;
}

}  // namespace weft::life
