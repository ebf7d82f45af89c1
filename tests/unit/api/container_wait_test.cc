#include "operator/api/container_wait.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"

namespace weft::api {
namespace {

struct Case {
  std::string name, reason, message, want;  // the name reads as a sentence
};

constexpr const char* kNoImage = "container t: ErrImagePull: image x:1 cannot be pulled";

TEST(ContainerWaitTest, SaysWhyInWordsThatStay) {
  const Case cases[] = {
      {"nothing is wrong yet", "ContainerCreating", "", ""},
      {"another container comes first", "PodInitializing", "", ""},
      {"the kubelet gives no reason", "", "x", ""},
      {"containerd does not find the image", "ErrImagePull",
       R"(rpc error: code = NotFound desc = failed to pull and unpack image "x:1": failed to )"
       R"(resolve reference "x:1": x:1: not found)",
       std::string(kNoImage) + ": not found"},
      {"the back-off repeats the error", "ImagePullBackOff",
       R"(Back-off pulling image "x:1": ErrImagePull: rpc error: code = NotFound: x:1: not found)",
       std::string(kNoImage) + ": not found"},
      {"the back-off of earlier versions does not", "ImagePullBackOff",
       R"(Back-off pulling image "x:1")", kNoImage},
      {"a message holds a port", "ErrImagePull",
       R"(failed to do request: Head "https://x/v2": dial tcp: lookup x: read udp )"
       R"(10.0.0.1:43211->10.96.0.10:53: i/o timeout)",
       std::string(kNoImage) + ": i/o timeout"},
      {"a name that is none", "InvalidImageName",
       R"(Failed to apply default image tag "X": couldn't parse image name: invalid format)",
       "container t: InvalidImageName: image x:1 cannot be pulled: invalid format"},
      {"a Secret is missing", "CreateContainerConfigError", R"(secret "none" not found)",
       R"(container t: CreateContainerConfigError: secret "none" not found)"},
      {"the runtime names its container", "CreateContainerError",
       R"(failed to generate container "0123456789abcdef0123456789abcdef" spec: no command specified)",
       R"(container t: CreateContainerError: failed to generate container "..." spec: no command )"
       R"(specified)"},
      {"a sidecar ends again and again", "CrashLoopBackOff",
       "back-off 1m20s restarting failed container=t pod=p_ns(uid)",
       "container t: CrashLoopBackOff: it ends again and again, last with exit code 3"},
      {"a reason without words", "RunContainerError", "", "container t: RunContainerError"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(WaitText({"t", "x:1", c.reason, c.message, 3}), c.want) << c.name;
  }
  EXPECT_EQ(WaitText({"t", "", "ErrImagePull", "x:1: not found", {}}),
            "container t: ErrImagePull: x:1: not found");
}

TEST(ContainerWaitTest, ReadsTheReasonBack) {
  EXPECT_EQ(ReasonOfWait("container t: ErrImagePull: image x:1 cannot be pulled"), "ErrImagePull");
  EXPECT_EQ(ReasonOfWait("container t: RunContainerError"), "RunContainerError");
  EXPECT_EQ(ReasonOfWait("FailedMount: MountVolume.SetUp failed: no"), "FailedMount");
  EXPECT_EQ(ReasonOfWait("FailedMount"), "FailedMount");
  EXPECT_EQ(ReasonOfWait("container t"), "");
  EXPECT_EQ(ReasonOfWait(""), "");
}

TEST(ContainerWaitTest, APodHasTheWordsOfItsFirstContainerThatWaits) {
  const auto pod = DecodePod(nlohmann::json::parse(R"({
      "metadata": {"name": "p", "namespace": "ns"},
      "status": {"phase": "Pending",
        "initContainerStatuses": [
          {"name": "i", "image": "a", "state": {"running": {}}}],
        "containerStatuses": [
          {"name": "a", "image": "a", "state": {"waiting": {"reason": "PodInitializing"}}},
          {"name": "b", "image": "b:1", "lastState": {"terminated": {"exitCode": 2}},
           "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}},
          {"name": "c", "image": "c:1", "state": {"waiting": {"reason": "ErrImagePull"}}}]}})"),
                             "test");
  ASSERT_TRUE(pod) << pod.error().message;
  EXPECT_EQ(pod->waiting,
            "container b: CrashLoopBackOff: it ends again and again, last with exit code 2");
}

TEST(ContainerWaitTest, AContainerIsDueWhenTheInitContainersBeforeItAreDone) {
  const nlohmann::json waits = {{"waiting", {{"reason", "PodInitializing"}}}};
  const nlohmann::json runs = {{"running", nlohmann::json::object()}};
  const auto of = [](const char* name, const nlohmann::json& state, bool ready) {
    return nlohmann::json{{"name", name}, {"state", state}, {"ready", ready}};
  };
  const nlohmann::json done = of("i", {{"terminated", {{"exitCode", 0}}}}, true);
  const nlohmann::json trainer = of("t", waits, false);
  struct Due {
    std::string name;  // reads as a sentence
    nlohmann::json init, containers;
    bool want;
  };
  const Due cases[] = {
      {"no status yet", {}, {}, false},
      {"the only container waits", {}, nlohmann::json::array({trainer}), true},
      {"an init container waits", nlohmann::json::array({of("i", waits, false)}),
       nlohmann::json::array({trainer}), true},
      {"an init container runs",
       {of("i", runs, false), of("j", waits, false)},
       nlohmann::json::array({trainer}),
       false},
      {"the next one waits", {done, of("j", waits, false)}, nlohmann::json::array({trainer}), true},
      {"all are done", nlohmann::json::array({done}), nlohmann::json::array({trainer}), true},
      {"a sidecar runs", nlohmann::json::array({of("i", runs, true)}),
       nlohmann::json::array({trainer}), true},
      {"one of two waits", {}, {of("s", runs, true), trainer}, true},
      {"all run", nlohmann::json::array({done}), nlohmann::json::array({of("t", runs, true)}),
       false},
  };
  const auto list = [](const nlohmann::json& items) {
    return items.is_null() ? nlohmann::json::array() : items;
  };
  for (const Due& c : cases) {
    for (const char* phase : {"Pending", "Running"}) {
      const auto pod = DecodePod({{"metadata", {{"name", "p"}, {"namespace", "ns"}}},
                                  {"status",
                                   {{"phase", phase},
                                    {"initContainerStatuses", list(c.init)},
                                    {"containerStatuses", list(c.containers)}}}},
                                 "test");
      ASSERT_TRUE(pod) << c.name;
      EXPECT_EQ(pod->starting, c.want && pod->phase == PodPhase::kPending) << c.name;
    }
  }
}

TEST(ContainerWaitTest, AFailedContainerKeepsTheEndOfItsTerminationMessage) {
  const auto failure = [](const char* reason, const std::string& message) {
    const nlohmann::json ended = {{"exitCode", 1}, {"reason", reason}, {"message", message}};
    const auto pod = DecodePod(
        {{"metadata", {{"name", "p"}, {"namespace", "ns"}}},
         {"status",
          {{"phase", "Failed"},
           {"containerStatuses", {{{"name", "t"}, {"state", {{"terminated", ended}}}}}}}}},
        "test");
    return pod && pod->failure ? pod->failure->message : "none";
  };
  EXPECT_EQ(failure("Error", "Traceback:\n  File x\n\nValueError: no"),
            "Traceback: File x ValueError: no");
  EXPECT_EQ(failure("Error", std::string(3'000, 'x') + " end").size(), 1'024U);
  EXPECT_TRUE(failure("Error", std::string(3'000, 'x') + " end").ends_with("x end"));
  EXPECT_EQ(failure("Error", ""), "");
  EXPECT_EQ(failure("StartError", "runc create failed: exec: \"x\": not found"),
            "exec: \"x\": not found");
}

}  // namespace
}  // namespace weft::api
