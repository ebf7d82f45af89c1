#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operator/manifest/inputs.h"

namespace weft::manifest {
namespace {

std::string Node(const std::string& name) {
  return "---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + "}\n";
}
std::string ConfigMap(const std::string& name) {
  return "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n";
}

TEST(ReadInputs, KeepsOrderAndNotesWhatItIgnores) {
  const auto inputs =
      ReadInputs({{"a", Node("n2") + ConfigMap("c1") + ConfigMap("c2")}, {"b", Node("n1")}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  std::vector<std::string> places;
  for (const api::Node& node : inputs->nodes) places.push_back(node.place);
  EXPECT_EQ(places, (std::vector<std::string>{"a: document 1: Node n2", "b: document 1: Node n1"}));
  EXPECT_EQ(inputs->notes, (std::vector<std::string>{"ignored 2 objects of kind ConfigMap (v1)"}));
}

TEST(ReadInputs, GivesAJobWhatItsRuntimeClassAdds) {
  const auto pod_of = [](const std::string& of_job, const std::string& admission) {
    const auto inputs = ReadInputs({{"a", R"(
apiVersion: node.k8s.io/v1
kind: RuntimeClass
metadata: {name: kata}
handler: kata
overhead: {podFixed: {cpu: 250m, memory: 1Gi}}
scheduling:
  nodeSelector: {sandbox: kata}
  tolerations: [{key: sandbox, operator: Exists}]
---
apiVersion: weft.dev/v1alpha1
kind: TrainingJob
metadata: {name: j, namespace: team}
spec:
  framework: {type: Torch}
  accelerator: {resourceName: nvidia.com/gpu, perWorker: 8}
  workers:
    replicas: 1
    template:
      spec:
        )" + of_job + R"(
        containers: [{name: t, image: i, resources: {limits: {nvidia.com/gpu: 8, cpu: 1}}}]
)" + admission}});
    EXPECT_TRUE(inputs) << inputs.error().message;
    return inputs->jobs[0].pod;
  };
  const rules::PodRequirements pod = pod_of("runtimeClassName: kata", "");
  EXPECT_EQ(pod.requests.at("cpu"), 1250);
  EXPECT_EQ(pod.requests.at("memory"), std::int64_t{1} << 30);
  EXPECT_EQ(pod_of("runtimeClassName: kata\n        overhead: {cpu: 250m}", "").requests.at("cpu"),
            1250)
      << "the template may state it too";
  EXPECT_EQ(pod.node_selector.at("sandbox"), "kata");
  EXPECT_EQ(pod.tolerations.size(), 1U);
  EXPECT_TRUE(pod_of("runtimeClassName: runc", "").node_selector.empty());
  const std::string other = "runtimeClassName: kata\n        nodeSelector: {sandbox: runc}";
  EXPECT_EQ(pod_of(other, "").requests.at("cpu"), 1000) << "the API server would refuse the pods";
  EXPECT_TRUE(pod_of("runtimeClassName: kata", "status: {admission: {observedGeneration: 0}}\n")
                  .tolerations.empty());
}

TEST(ReadInputs, TakesTheLeastMembersOfOtherSchedulersPodGroups) {
  const auto inputs = ReadInputs({{"a", R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {minMember: 3}
---
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: odd, namespace: team}
spec: {minMember: -1}
)"}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->least_members.at({"team", "g"}), 3);
  EXPECT_EQ(inputs->least_members.size(), 1U);
  EXPECT_TRUE(inputs->notes.empty());
  EXPECT_TRUE(inputs->pod_groups.empty());
}

TEST(ReadInputs, NamesEachDeviceTaintRuleBecauseItsDevicesCountAsFree) {
  const auto rule = [](const std::string& group, const std::string& name) {
    return "---\napiVersion: " + group + "/v1\nkind: DeviceTaintRule\nmetadata: {name: " + name +
           "}\nspec: {taint: {key: broken, effect: NoSchedule}}\n";
  };
  const std::string said =
      ": DeviceTaintRules are not read: devices that it taints count as free, and kube-scheduler "
      "may refuse pods there";
  const auto inputs = ReadInputs({{"a", Node("n1") + rule("resource.k8s.io", "gpu-3-of-n1") +
                                            rule("resource.k8s.io", "all-of-rack-2")},
                                  {"b", rule("example.com", "another")}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->notes, (std::vector<std::string>{
                               "a: document 2: DeviceTaintRule gpu-3-of-n1" + said,
                               "a: document 3: DeviceTaintRule all-of-rack-2" + said,
                               "ignored 1 object of kind DeviceTaintRule (example.com/v1)"}));
}

TEST(ReadInputs, CountsTheDeviceTaintRulesAfterTheFirstFew) {
  std::string rules;
  for (int i = 0; i < 300; ++i) {
    rules += "---\napiVersion: resource.k8s.io/v1\nkind: DeviceTaintRule\nmetadata: {name: r" +
             std::to_string(i) + "}\n";
  }
  const auto inputs = ReadInputs({{"a", rules}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_EQ(inputs->notes.size(), 21U);
  EXPECT_EQ(inputs->notes.back(),
            "ignored 280 objects of kind DeviceTaintRule (resource.k8s.io/v1)");
}

TEST(ReadInputs, TakesTheConfigMapOfLearnedSteps) {
  const std::string map =
      "apiVersion: v1\ndata:\n  a_H100_BF16: |\n    percent: 90\nkind: ConfigMap\n"
      "metadata: {name: weft-learned-steps, namespace: weft-system}\n";
  const auto inputs = ReadInputs({{"a", map}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  ASSERT_TRUE(inputs->learned_steps);
  EXPECT_EQ(inputs->learned_steps->data,
            (std::map<std::string, std::string>{{"a_H100_BF16", "percent: 90\n"}}));
  EXPECT_TRUE(inputs->notes.empty());
  const auto twice = ReadInputs({{"a", map}, {"b", map}});
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().message.find("a second one after a: document 1"), std::string::npos);
}

TEST(ReadInputs, RefusesWithThePlace) {
  struct Case {
    const char* name;
    std::vector<Source> sources;
    std::string want;
  };
  const Case cases[] = {
      {"no input", {}, "no input: no document"},
      {"no document in any source", {{"a", ""}, {"b", "---\n"}}, "a, b: no document"},
      {"one object in two sources",
       {{"a", Node("n1")}, {"b", ConfigMap("c1") + Node("n1")}},
       "b: line 6: document 2: Node n1: the same object as a: document 1: Node n1"},
      {"another version of our group",
       {{"a", "apiVersion: weft.dev/v2\nkind: Fabric\nmetadata: {name: f}\n"}},
       "a: line 1: document 1: Fabric f: apiVersion: weft.dev/v2 is not known; use "
       "weft.dev/v1alpha1"},
      {"an unknown kind of our group",
       {{"a", "apiVersion: weft.dev/v1alpha1\nkind: Fabrik\nmetadata: {name: f}\n"}},
       "a: line 2: document 1: Fabrik f: kind: weft.dev/v1alpha1 has TrainingJob, Placement and "
       "Fabric, "
       "not Fabrik"},
      {"no kind", {{"a", "apiVersion: v1\n"}}, "a: line 1: document 1: kind: is required"},
      {"a List inside a List",
       {{"a", "apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: List, items: []}]\n"}},
       "a: line 3: document 1: items[0]: List: a List inside a List is not read"},
  };
  for (const Case& c : cases) {
    const auto inputs = ReadInputs(c.sources);
    ASSERT_FALSE(inputs) << c.name;
    EXPECT_EQ(inputs.error().message, c.want) << c.name;
  }
}

TEST(ReadInputs, TakesAnEmptyListForADocument) {
  const auto inputs = ReadInputs({{"a", "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}"}});
  ASSERT_TRUE(inputs) << inputs.error().message;
  EXPECT_TRUE(inputs->nodes.empty());
}

}  // namespace
}  // namespace weft::manifest
