#include "operator/life/pod_events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::life {
namespace {

using Json = nlohmann::json;

Json Event(const char* type, const char* reason, const char* message, int second) {
  return {{"type", type},
          {"involvedObject", {{"uid", "u1"}}},
          {"reason", reason},
          {"message", message},
          {"lastTimestamp", "2026-11-28T10:00:" + std::to_string(10 + second) + "Z"}};
}

struct Case {
  std::string name;  // reads as a sentence
  Json events;
  std::string want;
};

constexpr const char* kNone =
    R"(MountVolume.SetUp failed for volume "c" : configmap "n" not found)";
constexpr const char* kToldNone =
    R"(FailedMount: MountVolume.SetUp failed for volume "c" : configmap "n" not found)";

TEST(PodEventsTest, TheNewestWarningThatKeepsAPodFromStartingIsTold) {
  const Json scheduled = Event("Normal", "Scheduled", "assigned", 0);
  const Json unbound = Event("Warning", "FailedScheduling", "no node", 0);
  const Json mount = Event("Warning", "FailedMount", kNone, 2);
  const Json attach = Event("Warning", "FailedAttachVolume", "AttachVolume.Attach failed", 4);
  const Json all = Event("Warning", "FailedMount",
                         "Unable to attach or mount volumes: unmounted volumes=[c]: timed out", 9);
  const Json sandbox =
      Event("Warning", "FailedCreatePodSandBox",
            R"(plugin failed for sandbox "0123456789abcdef0123456789abcdef": no IP)", 3);
  Json old = mount;
  old["lastTimestamp"] = "2026-11-28T09:50:00Z";
  Json series = Event("Warning", "FailedMount", "later", 0);
  series["lastTimestamp"] = nullptr;
  series["eventTime"] = "2026-11-28T10:00:00.000000Z";
  series["series"] = {{"lastObservedTime", "2026-11-28T10:01:00.000000Z"}};
  const Case cases[] = {
      {"no events", Json::array(), ""},
      {"it was bound late", {scheduled, unbound}, ""},
      {"a volume cannot be mounted", {scheduled, mount}, kToldNone},
      {"another one cannot be attached",
       {mount, attach},
       "FailedAttachVolume: AttachVolume.Attach failed"},
      {"the cause says more than the list of volumes", {all, mount}, kToldNone},
      {"which is told if there is nothing else", Json::array({all}),
       "FailedMount: Unable to attach or mount volumes: unmounted volumes=[c]: timed out"},
      {"the pod has no network",
       {sandbox, Event("Normal", "SandboxChanged", "killed", 4)},
       R"(FailedCreatePodSandBox: plugin failed for sandbox "...": no IP)"},
      {"an old cause is none of the newest warning's",
       {old, all},
       "FailedMount: Unable to attach or mount volumes: unmounted volumes=[c]: timed out"},
      {"an event of a series", {mount, series}, "FailedMount: later"},
      {"other warnings", Json::array({Event("Warning", "DNSConfigForming", "too many", 3)}), ""},
      {"a note of that name", Json::array({Event("Normal", "FailedMount", "x", 3)}), ""},
      {"what is none", {1, Json::object(), Json{{"type", 3}, {"series", 3}}}, ""},
  };
  for (const Case& c : cases) {
    const auto waits = WaitsOfEvents({{"items", c.events}});
    EXPECT_EQ(waits.contains("u1") ? waits.at("u1") : "", c.want) << c.name;
    EXPECT_EQ(waits.size(), c.want.empty() ? 0U : 1U) << c.name;
  }
  EXPECT_TRUE(WaitsOfEvents(Json::object()).empty());
  EXPECT_TRUE(WaitsOfEvents({{"items", 3}}).empty());
}

TEST(PodEventsTest, EachPodHasItsOwn) {
  Json other = Event("Warning", "FailedCreatePodSandBox", "no IP", 9);
  other["involvedObject"]["uid"] = "u2";
  const Json mount = Event("Warning", "FailedMount", kNone, 2);
  const std::map<std::string, std::string> want = {{"u1", kToldNone},
                                                   {"u2", "FailedCreatePodSandBox: no IP"}};
  EXPECT_EQ(WaitsOfEvents({{"items", {mount, other}}}), want);
}

TEST(PodEventsTest, OnlyABoundPodThatSaysNothingWaitsInSilence) {
  api::Pod pod;
  pod.node_name = "n1";
  pod.phase = api::PodPhase::kPending;
  EXPECT_TRUE(WaitsInSilence(pod));
  const auto with = [&](const auto& change) {
    api::Pod other = pod;
    change(other);
    return WaitsInSilence(other);
  };
  EXPECT_FALSE(with([](api::Pod& one) { one.node_name.clear(); }));
  EXPECT_FALSE(with([](api::Pod& one) { one.phase = api::PodPhase::kRunning; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.waiting = "container t: ErrImagePull"; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.has_sandbox = true; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.meta.deleting = true; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.unreadable = "odd"; }));
}

}  // namespace
}  // namespace weft::life
