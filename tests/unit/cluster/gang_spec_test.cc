#include "operator/cluster/gang_spec.h"

#include <gtest/gtest.h>

#include "operator/traffic/traffic.h"
#include "operator/traffic/worker_sets.h"

namespace weft::cluster {
namespace {

using traffic::Axis;

// Blocks of racks; nodes share NVLink by clique.
fabric::FabricSpec Racks(const std::string& name = "default") {
  fabric::FabricSpec spec;
  spec.name = name;
  spec.levels.resize(2);
  spec.levels[0].name = "block";
  spec.levels[0].label_key = "example.com/block";
  spec.levels[1].name = "rack";
  spec.levels[1].label_key = "example.com/rack";
  spec.scale_up.emplace();
  spec.scale_up->label_key = "nvidia.com/gpu.clique";
  return spec;
}

struct Asked {
  std::vector<fabric::FabricSpec> fabrics = {Racks()};
  std::string fabric_name = {};
  std::uint32_t workers = 8;
};

traffic::Parallelism Degrees(std::int64_t tensor, std::int64_t context, std::int64_t pipeline) {
  traffic::Parallelism parallelism;
  parallelism.tensor = tensor;
  parallelism.context = context;
  parallelism.pipeline = pipeline;
  return parallelism;
}

// "" and the Placement, or the error.
std::pair<std::string, api::Placement> Resolved(const api::GangAnnotations& annotations,
                                                const Asked& asked = {}) {
  std::vector<const fabric::FabricSpec*> fabrics;
  for (const auto& one : asked.fabrics) fabrics.push_back(&one);
  api::Placement placement;
  placement.workers = asked.workers;
  placement.fabric_name = asked.fabric_name;
  placement.accelerator = {"nvidia.com/gpu", 8};
  const Status done = Resolve(annotations, fabrics, placement);
  return {done ? "" : done.error().message, placement};
}

TEST(Resolve, AnnotationsOfWeftAreTakenAsTheyAre) {
  api::GangAnnotations annotations;
  annotations.parallelism = Degrees(8, 1, 1);
  annotations.topology.emplace().required = "any";
  const auto [error, placement] = Resolved(annotations, {.fabrics = {}});
  EXPECT_EQ(error, "");
  EXPECT_EQ(placement.parallelism.tensor, 8);
  EXPECT_EQ(placement.topology.required, "any");
}

TEST(Resolve, LabelKeysBecomeLevels) {
  const std::pair<const char*, const char*> cases[] = {{"example.com/block", "block"},
                                                       {"example.com/rack", "rack"},
                                                       {"nvidia.com/gpu.clique", "nvlink"},
                                                       {"kubernetes.io/hostname", "node"}};
  for (const auto& [key, level] : cases) {
    api::GangAnnotations annotations;
    annotations.required_key = key;
    EXPECT_EQ(Resolved(annotations).second.topology.required, level);
    annotations.required_key = "";
    annotations.preferred_key = key;
    EXPECT_EQ(Resolved(annotations).second.topology.preferred, level);
    EXPECT_EQ(Resolved(annotations).second.fabric_name, "");
  }
}

TEST(Resolve, OfSeveralFabricsTheOneWithTheLevelsIsChosen) {
  fabric::FabricSpec other;
  other.name = "other";
  api::GangAnnotations annotations;
  annotations.required_key = "example.com/rack";
  const Asked both = {.fabrics = {other, Racks("racks")}};
  EXPECT_EQ(Resolved(annotations, both).second.fabric_name, "racks");
  EXPECT_EQ(Resolved(annotations, both).second.topology.required, "rack");
  Asked named = both;
  named.fabric_name = "other";
  EXPECT_EQ(Resolved(annotations, named).first,
            "annotation kueue.x-k8s.io/podset-required-topology: no level of a Fabric has the "
            "label key example.com/rack; known are kubernetes.io/hostname");
}

TEST(Resolve, AnUnknownLabelKeyIsAnErrorThatListsTheKnown) {
  api::GangAnnotations annotations;
  annotations.preferred_key = "example.com/row";
  EXPECT_EQ(Resolved(annotations).first,
            "annotation kueue.x-k8s.io/podset-preferred-topology: no level of a Fabric has the "
            "label key example.com/row; known are example.com/block, example.com/rack, "
            "nvidia.com/gpu.clique, kubernetes.io/hostname");
}

// The workers that group `group` of the placement keeps together: "0-1 2-3".
std::string Together(const api::Placement& placement, std::size_t group) {
  const auto sets =
      traffic::GroupWorkers(placement.topology.groups[group].axes, placement.parallelism,
                            placement.workers, placement.accelerator.per_worker);
  if (!sets) return sets.error().message;
  std::string text;
  for (std::size_t s = 0; s < sets->size(); ++s) {
    const auto workers = sets->set(s);
    if (workers.size() != workers.back().Raw() - workers.front().Raw() + 1) text += "gaps in ";
    text +=
        std::to_string(workers.front().Raw()) + "-" + std::to_string(workers.back().Raw()) + " ";
  }
  return text;
}

TEST(Resolve, ASliceKeepsConsecutiveWorkersTogether) {
  api::GangAnnotations annotations;
  annotations.slices = {{api::kKueueSlice, "example.com/rack", 2}};
  const auto [error, placement] = Resolved(annotations);
  ASSERT_EQ(error, "");
  ASSERT_EQ(placement.topology.groups.size(), 1U);
  EXPECT_EQ(placement.topology.groups[0].required, "rack");
  EXPECT_EQ(placement.topology.groups[0].preferred, "");
  EXPECT_EQ(Together(placement, 0), "0-1 2-3 4-5 6-7 ");
}

TEST(Resolve, SlicesNest) {
  api::GangAnnotations annotations;
  annotations.slices = {{api::kKueueSlices, "example.com/block", 8},
                        {api::kKueueSlices, "example.com/rack", 4},
                        {api::kKueueSlices, "nvidia.com/gpu.clique", 2}};
  const auto [error, placement] = Resolved(annotations, {.fabrics = {Racks()}, .workers = 16});
  ASSERT_EQ(error, "");
  EXPECT_EQ(Together(placement, 0), "0-7 8-15 ");
  EXPECT_EQ(Together(placement, 1), "0-3 4-7 8-11 12-15 ");
  EXPECT_EQ(Together(placement, 2), "0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 ");
}

TEST(Resolve, ASliceIsMadeOfTheAxesThatAreGiven) {
  api::GangAnnotations annotations;
  annotations.parallelism = Degrees(8, 2, 2);
  annotations.slices = {{api::kKueueSlice, "example.com/rack", 2}};
  EXPECT_EQ(Resolved(annotations).second.topology.groups[0].axes,
            (std::vector<Axis>{Axis::kTensor, Axis::kContext}));
  annotations.slices[0].pods = 8;
  EXPECT_EQ(Resolved(annotations).second.topology.groups[0].axes.size(), 4U);
  annotations.parallelism->context = 4;
  annotations.slices[0].pods = 2;
  EXPECT_EQ(Resolved(annotations).first,
            "annotation kueue.x-k8s.io/podset-slice-required-topology: no axes of "
            "weft.dev/parallelism are adjacent ranks of 2 pods; give weft.dev/topology instead");
}

TEST(Resolve, SlicesMustDivideTheGang) {
  api::GangAnnotations annotations;
  annotations.slices = {{api::kKueueSlice, "example.com/rack", 3}};
  EXPECT_EQ(Resolved(annotations).first,
            "annotation kueue.x-k8s.io/podset-slice-required-topology: slices of 3 pods do not "
            "divide the gang's 8 pods");
}

TEST(Resolve, DegreesThatDoNotDivideTheWorldNameTheAnnotation) {
  api::GangAnnotations annotations;
  annotations.parallelism = Degrees(7, 1, 1);
  EXPECT_EQ(Resolved(annotations).first,
            "annotation weft.dev/parallelism: tensor x context x pipeline = 7 must divide the "
            "world of 64 ranks (8 workers x 8)");
  annotations.parallelism = Degrees(1, 1, 1);
  annotations.parallelism->expert = 3;
  EXPECT_EQ(Resolved(annotations).first.substr(0, 41), "annotation weft.dev/parallelism: expert: ");
}

TEST(AcceleratorOf, IsTheAcceleratorAmongTheRequests) {
  EXPECT_FALSE(AcceleratorOf({{"cpu", 4000}, {"memory", 1}, {"example.com/nic", 8}}));
  EXPECT_FALSE(AcceleratorOf({{"nvidia.com/gpu", 0}}));
  const auto found = AcceleratorOf({{"cpu", 4000}, {"amd.com/gpu", 4}, {"rdma/hca", 8}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->resource_name, "amd.com/gpu");
  EXPECT_EQ(found->per_worker, 4U);
}

}  // namespace
}  // namespace weft::cluster
