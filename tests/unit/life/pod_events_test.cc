#include "operator/life/pod_events.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::life {
namespace {

using Json = nlohmann::json;

Json Event(const char* type, const char* reason, const std::string& message, int second) {
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
    const auto waits = WaitsOfEvents({{"items", c.events}}, Json::object());
    EXPECT_EQ(waits.contains("u1") ? waits.at("u1").text : "", c.want) << c.name;
    EXPECT_EQ(waits.size(), c.want.empty() ? 0U : 1U) << c.name;
  }
  EXPECT_TRUE(WaitsOfEvents(Json::object(), Json::object()).empty());
  EXPECT_TRUE(WaitsOfEvents({{"items", 3}}, {{"items", 3}}).empty());
}

Json Pull(const char* reason, const char* container, int second) {
  Json event = Event("Normal", reason,
                     std::string(reason) == "Pulling"
                         ? "Pulling image \"registry.example/train:1\""
                         : "Successfully pulled image \"registry.example/train:1\" in 1.2s",
                     second);
  event["involvedObject"]["fieldPath"] = std::string("spec.") + container;
  return event;
}

TEST(PodEventsTest, AnImageIsToldFromItsPullingToItsPulled) {
  const std::string pulls =
      "container t: Pulling: image registry.example/train:1 since 2026-11-28T10:00:15Z";
  const Json pulling = Pull("Pulling", "containers{t}", 5);
  const Json mount = Event("Warning", "FailedMount", kNone, 2);
  struct PullCase {
    std::string name;  // reads as a sentence
    Json warnings, pulls;
    EventWait want;
  };
  const PullCase cases[] = {
      {"it is being pulled", Json::array(), Json::array({pulling}), {pulls, true}},
      {"it has been pulled", Json::array(), {pulling, Pull("Pulled", "containers{t}", 9)}, {}},
      {"within a second", Json::array(), {Pull("Pulled", "containers{t}", 5), pulling}, {}},
      {"it is pulled again",
       Json::array(),
       {Pull("Pulled", "containers{t}", 3), pulling},
       {pulls, true}},
      {"another container's is there",
       Json::array(),
       {Pull("Pulled", "initContainers{p}", 9), pulling},
       {pulls, true}},
      {"its volume came before", Json::array({mount}), Json::array({pulling}), {pulls, true}},
      {"its volume came before, and it has been pulled",
       Json::array({mount}),
       {pulling, Pull("Pulled", "containers{t}", 9)},
       {}},
      {"a warning came after it",
       Json::array({Event("Warning", "FailedMount", kNone, 8)}),
       Json::array({pulling}),
       {kToldNone, false}},
      {"other notes", Json::array(), Json::array({Event("Normal", "Preempted", "x", 3)}), {}},
  };
  for (const PullCase& c : cases) {
    const auto waits = WaitsOfEvents({{"items", c.warnings}}, {{"items", c.pulls}});
    const EventWait wait = waits.contains("u1") ? waits.at("u1") : EventWait{};
    EXPECT_EQ(wait.text, c.want.text) << c.name;
    EXPECT_EQ(wait.pulls, c.want.pulls) << c.name;
  }
}

TEST(PodEventsTest, WhatKeptAPodFromHavingASandboxIsOverOnceItHasOne) {
  api::Pod pod;
  const EventWait warning{.text = "FailedMount", .pulls = false}, pull{.text = "x", .pulls = true};
  EXPECT_TRUE(warning.IsOf(pod));
  EXPECT_TRUE(pull.IsOf(pod));  // kubelets before 1.35 tell of the sandbox later
  pod.has_sandbox = true;
  EXPECT_FALSE(warning.IsOf(pod));
  EXPECT_TRUE(pull.IsOf(pod));
}

TEST(PodEventsTest, EachPodHasItsOwn) {
  Json other = Event("Warning", "FailedCreatePodSandBox", "no IP", 9);
  other["involvedObject"]["uid"] = "u2";
  const Json mount = Event("Warning", "FailedMount", kNone, 2);
  const std::map<std::string, EventWait> want = {{"u1", {kToldNone, false}},
                                                 {"u2", {"FailedCreatePodSandBox: no IP", false}}};
  EXPECT_EQ(WaitsOfEvents({{"items", {mount, other}}}, Json::object()), want);
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
  EXPECT_TRUE(with([](api::Pod& one) { one.has_sandbox = one.starting = true; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.meta.deleting = true; }));
  EXPECT_FALSE(with([](api::Pod& one) { one.unreadable = "odd"; }));
}

}  // namespace
}  // namespace weft::life
