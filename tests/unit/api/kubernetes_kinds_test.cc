#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/decode.h"
#include "operator/fabric/partition.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;
using fabric::Resources;

Json PodOf(const std::string& spec) {
  return Json::parse(R"({"kind":"Pod","metadata":{"name":"p","namespace":"n"},"spec":)" + spec +
                     "}");
}

TEST(DecodePod, SaysWhichContainerEndedBadlyAndWhen) {
  const auto pod = DecodePod(Json::parse(R"({
      "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}, "status": {
        "phase": "Failed", "containerStatuses": [
          {"name": "log", "state": {"terminated": {"exitCode": 0}}},
          {"name": "trainer", "state": {"terminated": {
              "exitCode": 137, "reason": "OOMKilled", "finishedAt": "2027-01-15T08:00:00Z"}}}]}})"),
                             "test");
  ASSERT_TRUE(pod && pod->failure);
  EXPECT_EQ(pod->failure->container, "trainer");
  EXPECT_EQ(pod->failure->exit_code, 137);
  EXPECT_EQ(pod->failure->ended, 1'800'000'000);
}

// As a kubelet writes them, in turn: containers that have ended well make the phase Succeeded only
// when the kubelet has cleaned up.
TEST(DecodePod, StaysReadyBetweenTheEndOfItsContainersAndThePhaseSucceeded) {
  const struct {
    const char* status;
    bool ready;
  } cases[] = {
      {R"({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})", true},
      {R"({"phase": "Running", "conditions": [
           {"type": "Ready", "status": "False", "reason": "PodCompleted"}]})",
       true},
      {R"({"phase": "Running", "conditions": [
           {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}]})",
       false},
      {R"({"phase": "Failed", "conditions": [
           {"type": "Ready", "status": "False", "reason": "PodFailed"}]})",
       false},
  };
  for (const auto& c : cases) {
    const auto pod = DecodePod(
        {{"metadata", {{"name", "p"}, {"namespace", "a"}}}, {"status", Json::parse(c.status)}},
        "f");
    ASSERT_TRUE(pod) << c.status;
    EXPECT_EQ(pod->ready, c.ready) << c.status;
  }
}

TEST(DecodePod, SumsRequestsAsKubeSchedulerDoes) {
  struct Case {
    const char* name;
    const char* spec;
    Resources want;
  };
  const Case cases[] = {
      {"containers add up; cpu in thousandths, fractions rounded up",
       R"({"containers":[{"resources":{"requests":{"cpu":"1500m","memory":"1Ki"}}},
                         {"resources":{"requests":{"cpu":2,"memory":"0.5"}}}]})",
       {{"cpu", 3500}, {"memory", 1025}}},
      {"a request that is absent is the limit, resource by resource",
       R"({"containers":[{"resources":{"requests":{"cpu":1},
                                       "limits":{"cpu":4,"nvidia.com/gpu":"8"}}}]})",
       {{"cpu", 1000}, {"nvidia.com/gpu", 8}}},
      {"the largest init container counts where it is larger",
       R"({"initContainers":[{"resources":{"requests":{"cpu":5}}},
                             {"resources":{"requests":{"memory":7}}}],
           "containers":[{"resources":{"requests":{"cpu":2,"memory":9}}}]})",
       {{"cpu", 5000}, {"memory", 9}}},
      {"sidecars run beside the containers and later init containers, not earlier ones",
       R"({"initContainers":[{"resources":{"requests":{"cpu":4}}},
                             {"restartPolicy":"Always","resources":{"requests":{"cpu":1}}},
                             {"resources":{"requests":{"cpu":4}}}],
           "containers":[{"resources":{"requests":{"cpu":2}}}]})",
       {{"cpu", 5000}}},
      {"overhead comes on top",
       R"({"overhead":{"cpu":"10m"},"containers":[{"resources":{"requests":{"cpu":1}}}]})",
       {{"cpu", 1010}}},
      {"the pod's own request replaces the sum, its limit only fills in",
       R"({"resources":{"requests":{"cpu":3},"limits":{"memory":64}},
           "containers":[{"resources":{"requests":{"cpu":1}}}]})",
       {{"cpu", 3000}, {"memory", 64}}},
      {"zero is nothing", R"({"containers":[{"resources":{"requests":{"cpu":0}}}]})", {}},
      {"sums saturate",
       R"({"containers":[{"resources":{"requests":{"memory":9223372036854775807}}},
                         {"resources":{"requests":{"memory":1}}}]})",
       {{"memory", 9223372036854775807}}},
  };
  for (const Case& c : cases) {
    const Result<Pod> pod = DecodePod(PodOf(c.spec), "f");
    ASSERT_TRUE(pod) << c.name << ": " << pod.error().message;
    EXPECT_EQ(pod->pod.requests, c.want) << c.name;
  }
}

TEST(DecodePod, CountsAResizeOnItsWay) {
  struct Case {
    const char* name;
    const char* status;
    fabric::Resources want;
  };
  const Case cases[] = {
      {"none", R"({})", {{"cpu", 2000}, {"nvidia.com/gpu", 1}}},
      {"grows",
       R"({"containerStatuses":[{"name":"c","allocatedResources":{"cpu":1}}]})",
       {{"cpu", 2000}, {"nvidia.com/gpu", 1}}},
      {"shrinks: allocated",
       R"({"containerStatuses":[{"name":"c","allocatedResources":{"cpu":4}}]})",
       {{"cpu", 4000}, {"nvidia.com/gpu", 1}}},
      {"shrinks: still has",
       R"({"containerStatuses":[{"name":"c","allocatedResources":{"cpu":2},
          "resources":{"requests":{"cpu":"5"}}}]})",
       {{"cpu", 5000}, {"nvidia.com/gpu", 1}}},
      {"can never grow",
       R"({"conditions":[{"type":"PodResizePending","status":"True",
          "reason":"Infeasible"}],"containerStatuses":[{"name":"c","allocatedResources":{"cpu":1}}]})",
       {{"cpu", 1000}, {"nvidia.com/gpu", 1}}},
      {"another container's",
       R"({"containerStatuses":[{"name":"d","allocatedResources":{"cpu":4}}]})",
       {{"cpu", 2000}, {"nvidia.com/gpu", 1}}},
  };
  for (const Case& c : cases) {
    auto object = PodOf(R"({"containers":[{"name":"c","resources":{"requests":{"cpu":2},
        "limits":{"nvidia.com/gpu":1}}}]})");
    object["status"] = nlohmann::json::parse(c.status);
    const Result<Pod> pod = DecodePod(object, "f");
    ASSERT_TRUE(pod) << c.name << ": " << pod.error().message;
    EXPECT_EQ(pod->pod.requests, c.want) << c.name;
  }
}

// Of a pod with resources of its own, of which its containers share 2 CPUs.
TEST(DecodePod, CountsAResizeOfThePod) {
  struct Case {
    const char* name;
    const char* status;
    std::int64_t cpu;
  };
  const Case cases[] = {
      {"none", R"({})", 3000},
      {"only allocated, which an old kubelet writes", R"({"allocatedResources":{"cpu":6}})", 3000},
      {"grows", R"({"allocatedResources":{"cpu":2},"resources":{"requests":{"cpu":2}}})", 3000},
      {"shrinks: allocated",
       R"({"allocatedResources":{"cpu":6},"resources":{"requests":{"cpu":3}}})", 6000},
      {"shrinks: still has",
       R"({"allocatedResources":{"cpu":3},"resources":{"requests":{"cpu":7}}})", 7000},
      {"can never grow",
       R"({"conditions":[{"type":"PodResizePending","status":"True","reason":"Infeasible"}],
          "allocatedResources":{"cpu":1},"resources":{"requests":{"cpu":"1500m"}}})",
       1500},
      {"GPUs are of containers",
       R"({"allocatedResources":{"nvidia.com/gpu":4},"resources":{"requests":{"cpu":1}}})", 3000},
  };
  for (const Case& c : cases) {
    auto object = PodOf(R"({"resources":{"requests":{"cpu":3}},"containers":[{"name":"c",
        "resources":{"requests":{"cpu":2},"limits":{"nvidia.com/gpu":1}}}]})");
    object["status"] = nlohmann::json::parse(c.status);
    const Result<Pod> pod = DecodePod(object, "f");
    ASSERT_TRUE(pod) << c.name << ": " << pod.error().message;
    EXPECT_EQ(pod->pod.requests, (fabric::Resources{{"cpu", c.cpu}, {"nvidia.com/gpu", 1}}))
        << c.name;
  }
}

TEST(DecodePod, ReadsWhatPlacesIt) {
  const Result<Pod> pod =
      DecodePod(PodOf(R"({"nodeName":"gpu-1","nodeSelector":{"a":"b"},"priorityClassName":"high",
        "schedulingGates":[{"name":"weft.dev/placement"}],
        "tolerations":[{"operator":"Exists"},{"key":"k","value":"v","effect":"NoSchedule"}],
        "affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
          {"nodeSelectorTerms":[{"matchExpressions":[{"key":"z","operator":"In","values":["1"]}],
            "matchFields":[{"key":"metadata.name","operator":"In","values":["gpu-1"]}]}]}}},
        "resourceClaims":[{"name":"c","resourceClaimTemplateName":"imex-channel-0"}]})"),
                "f");
  ASSERT_TRUE(pod) << pod.error().message;
  rules::PodRequirements want;
  want.node_name = "gpu-1";
  want.node_selector = {{"a", "b"}};
  want.tolerations = {{"", "Exists", "", ""}, {"k", "Equal", "v", "NoSchedule"}};
  want.required_affinity = {{{{"z", "In", {"1"}}}, {{"metadata.name", "In", {"gpu-1"}}}}};
  want.claims_compute_domain = true;
  EXPECT_EQ(pod->pod, want);
  EXPECT_EQ(pod->scheduling_gates, std::vector<std::string>{"weft.dev/placement"});
  EXPECT_EQ(pod->priority_class_name, "high");
  EXPECT_EQ(pod->place, "f: Pod n/p");
}

TEST(DecodePod, KeepsAnnotationsThatCouldBeLabels) {
  auto object = PodOf("{}");
  object["metadata"]["annotations"] = {{"example.com/status", std::string(64, 'x')},
                                       {"example.com/name", std::string(63, 'x')},
                                       {"example.com/index", "3"}};
  const Result<Pod> pod = DecodePod(object, "f");
  ASSERT_TRUE(pod) << pod.error().message;
  const TextMap want = {{"example.com/name", std::string(63, 'x')}, {"example.com/index", "3"}};
  EXPECT_EQ(pod->meta.annotations, want);
}

TEST(DecodePod, TellsComputeDomainClaimsByName) {
  struct Case {
    const char* name;
    const char* claim;
    bool want;
  };
  const Case cases[] = {
      {"the documents' claim name", R"({"name":"compute-domain-channel"})", true},
      {"a template's name", R"({"name":"c","resourceClaimTemplateName":"my-ComputeDomain"})", true},
      {"a claim's name", R"({"name":"c","resourceClaimName":"imex-7"})", true},
      {"a claim for a GPU", R"({"name":"gpu","resourceClaimTemplateName":"single-gpu"})", false},
  };
  for (const Case& c : cases) {
    const Result<Pod> pod =
        DecodePod(PodOf(std::string(R"({"resourceClaims":[)") + c.claim + "]}"), "f");
    EXPECT_EQ(pod->pod.claims_compute_domain, c.want) << c.name;
  }
}

TEST(DecodePod, NamesTheFieldThatIsWrong) {
  struct Case {
    const char* name;
    const char* spec;
    const char* want;
  };
  const Case cases[] = {
      {"a quantity that is none",
       R"({"containers":[{},{"resources":{"limits":{"nvidia.com/gpu":true}}}]})",
       "f: Pod n/p: spec.containers[1].resources.limits[nvidia.com/gpu]: true must be a quantity "
       "such "
       "as 8, \"500m\" or \"64Gi\""},
      {"a negative request", R"({"containers":[{"resources":{"requests":{"cpu":-1}}}]})",
       "f: Pod n/p: spec.containers[0].resources.requests.cpu: -1 must not be negative"},
      {"a number for text", R"({"nodeSelector":{"a":8}})",
       "f: Pod n/p: spec.nodeSelector.a: 8 must be a string; quote it"},
      {"a text for a list", R"({"tolerations":"x"})",
       "f: Pod n/p: spec.tolerations: \"x\" must be a list"},
  };
  for (const Case& c : cases) {
    const Result<Pod> pod = DecodePod(PodOf(c.spec), "f");
    ASSERT_FALSE(pod) << c.name;
    EXPECT_EQ(pod.error().message, c.want) << c.name;
  }
}

TEST(DecodeNode, ReadsFactsAndFallsBackToCapacity) {
  const Result<Node> node = DecodeNode(Json::parse(R"({"kind":"Node",
      "metadata":{"name":"gpu-1","uid":"u","labels":{"a":"b"}},
      "spec":{"unschedulable":true,"taints":[{"key":"k","value":"v","effect":"NoExecute"}]},
      "status":{"conditions":[{"type":"Ready","status":"True"}],
                "capacity":{"cpu":"1500m","nvidia.com/gpu":"8","memory":"1Gi"}}})"),
                                       "f");
  ASSERT_TRUE(node) << node.error().message;
  const fabric::NodeFacts& facts = node->facts;
  EXPECT_EQ(facts.name, "gpu-1");
  EXPECT_EQ(node->meta.uid, "u");
  EXPECT_EQ(facts.labels, (std::map<std::string, std::string>{{"a", "b"}}));
  EXPECT_TRUE(facts.unschedulable);
  EXPECT_EQ(facts.taints, (std::vector<fabric::Taint>{{"k", "v", "NoExecute"}}));
  EXPECT_EQ(facts.conditions, (std::vector<fabric::NodeCondition>{{"Ready", "True"}}));
  EXPECT_EQ(facts.allocatable,
            (Resources{{"cpu", 1500}, {"memory", 1073741824}, {"nvidia.com/gpu", 8}}));
}

TEST(DecodeNode, PrefersAllocatable) {
  const Result<Node> node = DecodeNode(Json::parse(R"({"metadata":{"name":"a"},
                      "status":{"capacity":{"cpu":8},"allocatable":{"cpu":7}}})"),
                                       "f");
  EXPECT_EQ(node->facts.allocatable, (Resources{{"cpu", 7000}}));
}

TEST(DecodePriorityClass, HoldsTheRangeOfItsValue) {
  const auto decode = [](const char* text) { return DecodePriorityClass(Json::parse(text), "f"); };
  EXPECT_EQ(decode(R"({"metadata":{"name":"a"},"value":-5})")->value, -5);
  EXPECT_EQ(decode(R"({"metadata":{"name":"a"},"value":2147483648})").error().message,
            "f: a: value: 2147483648 must be at most 2147483647");
}

TEST(Pod, HoldsItsRequestsWhileBoundAndUnfinished) {
  Pod pod;
  EXPECT_FALSE(pod.Holds());
  pod.node_name = "a";
  for (const auto& [phase, want] : std::map<std::string, bool>{{"", true},
                                                               {"Pending", true},
                                                               {"Running", true},
                                                               {"Unknown", true},
                                                               {"Succeeded", false},
                                                               {"Failed", false}}) {
    pod.phase = ParsePodPhase(phase);
    EXPECT_EQ(pod.Holds(), want) << phase;
  }
}

}  // namespace
}  // namespace weft::api
