#include <gtest/gtest.h>

#include <functional>

#include "operator/cluster/choose_fabric.h"
#include "operator/cluster/workload.h"
#include "tests/support/scene.h"

namespace weft::cluster {
namespace {

// A Fabric of each leaf: "first" of n0 and n1, "second" of n2 and n3.
struct TwoFabrics : testing::Scene {
  TwoFabrics() : testing::Scene(testing::FourNodes()) {
    inputs.fabrics.push_back(inputs.fabrics[0]);
    const char* const names[] = {"first", "second"};
    for (std::size_t f = 0; f < 2; ++f) {
      inputs.fabrics[f].meta.key.name = names[f];
      inputs.fabrics[f].spec.node_selector = {{{"test/leaf", f == 0 ? "l0" : "l1"}}, {}};
    }
  }
  void Label(const char* space, const char* fabric) {
    api::Namespace one;
    one.meta.key.name = space;
    one.meta.labels = {{api::kDefaultFabricLabel, fabric}};
    inputs.namespaces.push_back(one);
  }
  // The node offers the resource of another vendor.
  void Offers(std::size_t node) { inputs.nodes.Edit(node).facts.allocatable["amd.com/gpu"] = 8; }
};

std::string Chosen(const testing::Scene& scene) {
  const Cluster cluster = scene.Build();
  const auto choice = ChooseFabric(cluster, PendingWorkloads(cluster, Order::kFile)->front());
  if (!choice) return choice.error().message;
  if (const auto* none = std::get_if<Refusal>(&*choice)) return none->reason + ": " + none->message;
  return cluster.fabrics[std::get<std::size_t>(*choice)].name();
}

struct ChooseCase {
  const char* name;
  std::function<void(TwoFabrics&)> arrange;
  const char* want;
};

TEST(ChooseFabric, IsTheNamedElseTheNamespacesElseTheOnlyOneThatFits) {
  const ChooseCase cases[] = {
      {"named", [](auto& s) { s.Job("j", 1).fabric_name = "second"; }, "second"},
      {"named, though it is too small", [](auto& s) { s.Job("j", 3).fabric_name = "second"; },
       "second"},
      {"named wrong", [](auto& s) { s.Job("j", 1).fabric_name = "third"; },
       "jobs.yaml: TrainingJob ns/j: spec.fabricName: unknown Fabric \"third\"; known: first, "
       "second"},
      {"of the namespace",
       [](auto& s) {
         s.Label("other", "first");
         s.Label("ns", "second");
         s.Job("j", 1);
       },
       "second"},
      {"of the namespace, named wrong",
       [](auto& s) {
         s.Label("ns", "third");
         s.Job("j", 1);
       },
       "NoFabric: The label weft.dev/default-fabric=third of namespace ns names an unknown Fabric; "
       "known: first, second."},
      {"two have room", [](auto& s) { s.Job("j", 2); },
       "FabricAmbiguous: Fabrics first, second all offer nvidia.com/gpu and have room; name one in "
       "spec.fabricName, or label the namespace with weft.dev/default-fabric."},
      {"two have room, were they empty",
       [](auto& s) {
         s.Pod("p", "n0");
         s.Job("j", 2);
       },
       "FabricAmbiguous: Fabrics first, second all offer nvidia.com/gpu and have room; name one in "
       "spec.fabricName, or label the namespace with weft.dev/default-fabric."},
      {"both are too small", [](auto& s) { s.Job("j", 3); },
       "FabricAmbiguous: Fabrics first, second all offer nvidia.com/gpu, but each is too small; "
       "name "
       "one in spec.fabricName, or label the namespace with weft.dev/default-fabric."},
      {"one has room",
       [](auto& s) {
         s.Job("j", 2).pod.node_selector = {{"test/leaf", "l1"}};
       },
       "second"},
      {"one offers the resource, too little of it",
       [](auto& s) {
         s.Offers(3);
         s.Job("j", 2).accelerator.resource_name = "amd.com/gpu";
         s.inputs.jobs.Edit(0).pod.requests = {{"amd.com/gpu", 8}};
       },
       "second"},
      {"none offers the resource",
       [](auto& s) { s.Job("j", 1).accelerator.resource_name = "amd.com/gpu"; },
       "NoFabric: No node of any Fabric (first, second) offers amd.com/gpu."},
      {"a class that does not exist yet",
       [](auto& s) {
         s.inputs.device_classes.emplace_back().meta.key.name = "gpu.nvidia.com";
         s.Job("j", 1).accelerator.device_class = "b200";
       },
       "NoDeviceClass: accelerator.deviceClassName: there is no DeviceClass \"b200\"; known: "
       "gpu.nvidia.com."},
  };
  for (const ChooseCase& one : cases) {
    TwoFabrics scene;
    one.arrange(scene);
    EXPECT_EQ(Chosen(scene), one.want) << one.name;
  }
}

TEST(ChooseFabric, AClassOfPartsOfWhatCountsIsToldOf) {
  TwoFabrics scene;
  for (const char* type : {"gpu", "mig"}) {
    api::DeviceClass& one = scene.inputs.device_classes.emplace_back();
    one.meta.key.name = std::string(type) + ".nvidia.com";
    one.driver = "gpu.nvidia.com";
    one.type = type;
    one.exact = true;
  }
  api::Accelerator& wanted = scene.Job("j", 1).accelerator;
  wanted.device_class = "mig.nvidia.com";
  wanted.resource_name = std::string(api::kClassResourcePrefix) + wanted.device_class;
  EXPECT_EQ(Chosen(scene),
            "NoDeviceClass: accelerator.deviceClassName: DeviceClass \"mig.nvidia.com\" selects "
            "devices of type \"mig\", which are parts of the devices of gpu.nvidia.com that Weft "
            "counts; name a class of whole devices, or ask for the parts by "
            "accelerator.resourceName.");
}

TEST(ChooseFabric, FitsAGangOfOneProductAlone) {
  testing::Scene scene(
      testing::ThreeProducts());  // A100 n0 n1 n4; H100 n2 n3 and, spot, n5 n6; H200 n7
  scene.inputs.fabrics.push_back(scene.inputs.fabrics[0]);
  scene.inputs.fabrics[0].spec.node_selector = {{{"test/leaf", "l0"}}, {}};
  scene.inputs.fabrics[1].meta.key.name = "second";
  scene.inputs.fabrics[1].spec.node_selector = {{{"test/leaf", "l1"}}, {}};
  scene.Job("j", 2).accelerator.models = {"A100"};
  EXPECT_EQ(Chosen(scene), "default");
  scene.inputs.jobs.Edit(0).accelerator.models = {"H200", "H100"};
  scene.inputs.jobs.Edit(0).accelerator.capacity_types = {"Spot"};
  EXPECT_EQ(Chosen(scene), "second");
}

}  // namespace
}  // namespace weft::cluster
