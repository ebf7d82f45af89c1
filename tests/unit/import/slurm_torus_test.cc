#include "operator/import/slurm_torus.h"

#include "gtest/gtest.h"
#include "operator/import/import_slurm_yaml.h"

namespace weft::import {
namespace {

const std::string kTorus = "- topology: t\n  torus3d:\n    toruses:\n";
const std::string kRing = "- topology: t\n  ring:\n    rings:\n";

// "2x2x1 n1:leaf(0,0,0) ...": the torus's sizes, then every node with its leaf and place; or the
// message.
std::string Import(const std::string& text) {
  const auto cluster = ImportSlurmYaml({"topology.yaml", text}, "", {});
  if (!cluster) return cluster.error().message;
  std::string out = "no torus";
  std::vector<std::string> keys;
  if (const auto& torus = cluster->fabric.torus) {
    out = torus->level + " ";
    for (const fabric::TorusDimension& dimension : torus->dimensions) {
      out += (keys.empty() ? "" : "x") + std::to_string(dimension.size);
      if (!dimension.wraps) out += "!";
      keys.push_back(dimension.label_key);
    }
    for (const fabric::TorusShapeSpec& shape : torus->shapes) {
      std::string sizes, domains;
      for (const std::uint32_t size : shape.sizes) {
        sizes += (sizes.empty() ? "" : "x") + std::to_string(size);
      }
      for (const std::string& domain : shape.domains) {
        domains += (domains.empty() ? "" : ",") + domain;
      }
      out += " " + domains + "=" + sizes;
    }
  }
  for (const fabric::NodeFacts& node : cluster->nodes) {
    out += " " + node.name + ":" + std::string(*node.labels.At("weft.dev/leaf"));
    for (const std::string& key : keys) out += "/" + std::string(*node.labels.At(key));
  }
  return out;
}

struct Case {
  std::string name, text, want;
};
class SlurmTorusTest : public ::testing::TestWithParam<Case> {};

TEST_P(SlurmTorusTest, GivesEveryNodeItsPlaceOrNamesTheLine) {
  EXPECT_EQ(Import(GetParam().text), GetParam().want);
}

// clang-format off
INSTANTIATE_TEST_SUITE_P(Table, SlurmTorusTest, ::testing::ValuesIn(std::vector<Case>{
  {"XIsFastest", kTorus + "    - {name: a, dims: {x: 2, y: 2, z: 2}, nodes: \"n[1-8]\"}\n",
   "leaf 2x2x2 n1:a/0/0/0 n2:a/1/0/0 n3:a/0/1/0 n4:a/1/1/0 n5:a/0/0/1 n6:a/1/0/1 n7:a/0/1/1 n8:a/1/1/1"},
  {"SeveralToruses", kTorus + "    - {name: a, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\"}\n    - {name: b, dims: {x: 2, y: 1, z: 1}, nodes: \"n[3-4]\"}\n",
   "leaf 2x1x1 n1:a/0/0/0 n2:a/1/0/0 n3:b/0/0/0 n4:b/1/0/0"},
  {"RegionsWithGaps", kTorus + "    - name: a\n      dims: {x: 3, y: 2, z: 2}\n      regions:\n"
   "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\"}\n"
   "      - {anchor: {x: 0, y: 1, z: 1}, dims: {x: 1, y: 1, z: 1}, nodes: m1}\n",
   "leaf 3x2x2 m1:a/0/1/1 n1:a/1/0/0 n2:a/2/0/0"},
  {"Rings", kRing + "    - {ring: r0, nodes: \"n[1-3]\"}\n    - {ring: r1, nodes: \"n[6,5,4]\"}\n",
   "leaf 3 n1:r0/0 n2:r0/1 n3:r0/2 n4:r1/2 n5:r1/1 n6:r1/0"},
  {"TorusesOfSeveralSizes", kTorus + "    - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n1}\n    - {name: b x, dims: {x: 2, y: 1, z: 1}, nodes: \"n[2-3]\"}\n    - {name: c, dims: {x: 1, y: 1, z: 1}, nodes: n4}\n    - {name: d, dims: {x: 9, y: 1, z: 1}}\n",
   "leaf 1x1x1 b-x-ff6230191281d165=2x1x1 n1:a/0/0/0 n2:b-x-ff6230191281d165/0/0/0 n3:b-x-ff6230191281d165/1/0/0 n4:c/0/0/0"},
  {"RingsOfSeveralSizes", kRing + "    - {ring: r0, nodes: \"n[1-2]\"}\n    - {ring: r1, nodes: n3}\n",
   "leaf 2 r1=1 n1:r0/0 n2:r0/1 n3:r1/0"},

  {"AnUnknownKey", kTorus + "    - {name: a, dim: {x: 1}}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].dim: unknown field; did you mean dims?"},
  {"NoToruses", "- topology: t\n  torus3d: {rings: []}\n", "topology.yaml: line 2: [0].torus3d.rings: unknown field"},
  {"NoName", kTorus + "    - {dims: {x: 1, y: 1, z: 1}}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].name: is required"},
  {"AnEmptyName", kTorus + "    - {name: \"\", dims: {x: 1, y: 1, z: 1}}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].name: the name is empty"},
  {"ANameTwice", kTorus + "    - {name: a, dims: {x: 1, y: 1, z: 1}}\n    - {name: a, dims: {x: 1, y: 1, z: 1}}\n",
   "topology.yaml: line 5: [0].torus3d.toruses[1].name: \"a\" is already defined in [0].torus3d.toruses[0].name"},
  {"NoDims", kTorus + "    - {name: a, nodes: n1}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].dims: is required"},
  {"TwoDims", kTorus + "    - {name: a, dims: {x: 1, y: 1}, nodes: n1}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].dims.z: is required"},
  {"ADimOfNothing", kTorus + "    - {name: a, dims: {x: 1, y: 0, z: 1}, nodes: n1}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].dims.y: 0 must be at least 1"},
  {"ADimPastTheBound", kTorus + "    - {name: a, dims: {x: 1, y: 1, z: 1025}, nodes: n1}\n", "topology.yaml: line 4: [0].torus3d.toruses[0].dims.z: 1025 must be at most 1024"},
  {"TooManyPlaces", kTorus + "    - {name: a, dims: {x: 1024, y: 1024, z: 2}, nodes: n1}\n",
   "topology.yaml: line 4: [0].torus3d.toruses[0].dims: 1024 x 1024 x 2 has more than 131072 places"},
  {"TooFewNodes", kTorus + "    - {name: a, dims: {x: 4, y: 4, z: 2}, nodes: \"n[1-8]\"}\n",
   "topology.yaml: line 4: [0].torus3d.toruses[0].nodes: names 8 nodes for the 32 places of 4 x 4 x 2"},
  {"NodesAndRegions", kTorus + "    - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n1, regions: []}\n",
   "topology.yaml: line 4: [0].torus3d.toruses[0].regions: must be absent where nodes are given"},
  {"ARegionThatReachesOut", kTorus + "    - name: a\n      dims: {x: 2, y: 2, z: 2}\n      regions:\n      - {anchor: {x: 0, y: 1, z: 0}, dims: {x: 1, y: 2, z: 1}, nodes: \"n[1-2]\"}\n",
   "topology.yaml: line 7: [0].torus3d.toruses[0].regions[0]: reaches out of the torus along y, which has 2 places"},
  {"RegionsThatOverlap", kTorus + "    - name: a\n      dims: {x: 2, y: 2, z: 2}\n      regions:\n      - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: \"n[1-2]\"}\n"
   "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 1, z: 1}, nodes: n3}\n",
   "topology.yaml: line 8: [0].torus3d.toruses[0].regions[1].nodes: node \"n3\" has the same place as a node of another region"},
  {"ANodeTwice", kTorus + "    - {name: a, dims: {x: 2, y: 1, z: 1}, nodes: \"n1,N1\"}\n",
   "topology.yaml: line 4: [0].torus3d.toruses[0].nodes: node \"N1\" is already in [0].torus3d.toruses[0].nodes"},
  {"NoNodes", kTorus + "    - {name: a, dims: {x: 2, y: 1, z: 1}}\n", "topology.yaml: line 2: [0].torus3d: names no node"},
  {"ARingOfSeventeen", kRing + "    - {ring: r, nodes: \"n[1-17]\"}\n", "topology.yaml: line 4: [0].ring.rings[0].nodes: names 17 nodes; a ring may have at most 16"},
  {"ARingWithoutNodes", kRing + "    - {ring: r}\n", "topology.yaml: line 4: [0].ring.rings[0].nodes: is required"},
}), [](const auto& row) { return row.param.name; });
// clang-format on

TEST(SlurmTorus, SaysWhatIsLeftOut) {
  const std::string torus =
      "    - {name: a, dims: {x: 1, y: 1, z: 1}, nodes: n1, placements: []}\n";
  const auto placements = ImportSlurmYaml({"t", kTorus + torus}, "", {});
  ASSERT_TRUE(placements) << placements.error().message;
  EXPECT_EQ(placements->notes[0],
            "placements only say which boxes Slurm may give a job: Weft takes any");
}

}  // namespace
}  // namespace weft::import
