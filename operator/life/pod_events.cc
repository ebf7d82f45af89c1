#include "operator/life/pod_events.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/json_member.h"
#include "operator/base/short_text.h"
#include "operator/base/stable_text.h"
#include "operator/base/timestamp.h"
#include "operator/life/start_reasons.h"

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

// The text between the first and the last of two signs; "" without them.
std::string Between(const std::string& text, char first, char last) {
  const std::size_t begin = text.find(first), end = text.rfind(last);
  return begin == text.npos || end <= begin ? "" : text.substr(begin + 1, end - begin - 1);
}

// The pulls of one pod's images.
class Pulls {
 public:
  // `about` is the event's involvedObject, with the container in spec.containers{trainer}.
  void Add(const Json& event, const Json& about) {
    const bool begins = api::TextAt(event, "reason") == kPulling;
    if (!begins && api::TextAt(event, "reason") != "Pulled") return;
    Pull& pull = of_container_[api::TextAt(about, "fieldPath")];
    const UnixSeconds time = TimeOf(event);
    UnixSeconds& last = begins ? pull.began : pull.ended;
    if (begins && time >= last) pull.image = Between(api::TextAt(event, "message"), '"', '"');
    last = std::max(last, time);
    newest_ = std::max(newest_, time);
  }
  // When something was last known of them.
  UnixSeconds newest() const { return newest_; }
  // The image that is being pulled; "" if none is.
  std::string Text() const {
    for (const auto& [path, pull] : of_container_) {
      if (pull.began == 0 || pull.ended >= pull.began) continue;
      const std::string name = Between(path, '{', '}');
      return (name.empty() ? "" : "container " + OneLine(name, kTextBytes) + ": ") +
             std::string(kPulling) + ": image " +
             OneLine(Shorten(pull.image, kTextBytes), kTextBytes) + " since " +
             FormatTime(pull.began);
    }
    return "";
  }

 private:
  struct Pull {
    UnixSeconds began = 0, ended = 0;
    std::string image;
  };
  std::map<std::string, Pull> of_container_;
  UnixSeconds newest_ = 0;
};

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

// Calls `each` with every event of a list and the object that it is about.
template <typename Each>
void EachEvent(const Json& list, const Each& each) {
  const auto items = list.find("items");
  if (items == list.end() || !items->is_array()) return;
  for (const Json& event : *items) {
    if (!event.is_object()) continue;
    const auto about = event.find("involvedObject");
    if (about != event.end() && about->is_object()) each(event, *about);
  }
}

}  // namespace

bool WaitsInSilence(const api::Pod& pod) {
  const bool pending = pod.phase == api::PodPhase::kPending || pod.phase == api::PodPhase::kNone;
  return pending && !pod.node_name.empty() && (!pod.has_sandbox || pod.starting) &&
         pod.waiting.empty() && !pod.failure && !pod.meta.deleting && pod.unreadable.empty();
}

std::map<std::string, EventWait> WaitsOfEvents(const Json& warnings, const Json& pulls) {
  struct OfPod {
    Warnings warnings;
    Pulls pulls;
  };
  std::map<std::string, OfPod> pods;
  EachEvent(warnings, [&](const Json& event, const Json& about) {
    if (KeepsFromStarting(event)) pods[api::TextAt(about, "uid")].warnings.Add(event);
  });
  EachEvent(pulls, [&](const Json& event, const Json& about) {
    pods[api::TextAt(about, "uid")].pulls.Add(event, about);
  });
  std::map<std::string, EventWait> waits;
  for (const auto& [uid, pod] : pods) {
    const Warnings& told = pod.warnings;
    const UnixSeconds pulled = pod.pulls.newest();
    if (told.newest != nullptr && (pulled == 0 || told.newest_time > pulled)) {
      waits[uid] = {told.Text(), false};
    } else if (std::string text = pod.pulls.Text(); !text.empty()) {
      waits[uid] = {std::move(text), true};
    }
  }
  return waits;
}

}  // namespace weft::life
