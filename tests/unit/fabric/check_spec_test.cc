#include "operator/fabric/check_spec.h"
#include "gtest/gtest.h"
#include "operator/fabric/fabric.h"
#include "operator/fabric/resolve_links.h"

namespace weft::fabric {
namespace {

FabricSpec Good() {
  FabricSpec spec;
  spec.levels = {{"spine", "s", Identity::kValue, {}}, {"leaf", "l", Identity::kPath, {}}};
  spec.scale_up = ScaleUpSpec{"nvlink", "v", {}, ScaleUpRequires::kNothing};
  spec.torus = TorusSpec{"torus", {{"x", 8, true}, {"y", 10, false}}, "spine", {}};
  spec.rails = RailsSpec{2, {"r0", "r1"}};
  spec.node_selector = LabelSelector{};
  spec.node_selector->match_expressions = {{"pool", "In", {"x"}}, {"gpus", "Gt", {"4"}}};
  return spec;
}

struct Case {
  const char* name;
  void (*change)(FabricSpec&);
  const char* want;  // "" when the spec is good
};

const Case kCases[] = {
    {"a full spec", [](FabricSpec&) {}, ""},
    {"an empty spec", [](FabricSpec& s) { s = {}; }, ""},
    {"a level without a name", [](FabricSpec& s) { s.levels[0].name = ""; },
     "spec.levels[0].name: required"},
    {"a level named node", [](FabricSpec& s) { s.levels[1].name = "node"; },
     "spec.levels[1].name: \"node\" is reserved"},
    {"a level named outside", [](FabricSpec& s) { s.levels[1].name = "outside"; },
     "spec.levels[1].name: \"outside\" is reserved"},
    {"a level named like the scale-up network", [](FabricSpec& s) { s.levels[1].name = "nvlink"; },
     "spec.levels[1].name: \"nvlink\" is reserved"},
    {"two levels of one name", [](FabricSpec& s) { s.levels[1].name = "spine"; },
     "spec.levels[1].name: \"spine\" is already the name of a wider level"},
    {"two levels of one key", [](FabricSpec& s) { s.levels[1].label_key = "s"; },
     "spec.levels[1].labelKey: \"s\" is already the key of a wider level"},
    {"a wide level without a key", [](FabricSpec& s) { s.levels[0].label_key = ""; },
     "spec.levels[0].labelKey: required"},
    {"a leaf without a key, from rails", [](FabricSpec& s) { s.levels[1].label_key = ""; }, ""},
    {"a leaf without a key or rails",
     [](FabricSpec& s) {
       s.levels[1].label_key = "";
       s.rails->leaf_label_keys.clear();
     },
     "spec.levels[1].labelKey: required"},
    {"a plane without a name",
     [](FabricSpec& s) {
       s.planes = {{"", "b", {}}};
     },
     "spec.planes[0].name: required"},
    {"a plane named like the torus",
     [](FabricSpec& s) {
       s.planes = {{"torus", "b", {}}};
     },
     "spec.planes[0].name: \"torus\" is reserved or already the name of another network"},
    {"two planes of one name",
     [](FabricSpec& s) {
       s.planes = {{"blue", "b", {}}, {"blue", "c", {}}};
     },
     "spec.planes[1].name: \"blue\" is reserved or already the name of another network"},
    {"a plane without a label",
     [](FabricSpec& s) {
       s.planes = {{"blue", "", {}}};
     },
     "spec.planes[0].labelKey: required"},
    {"too many planes", [](FabricSpec& s) { s.planes.resize(5); },
     "spec.planes: 5 are more than 4"},
    {"a torus without a name", [](FabricSpec& s) { s.torus->name = ""; },
     "spec.torus.name: required"},
    {"a torus named outside", [](FabricSpec& s) { s.torus->name = "outside"; },
     "spec.torus.name: \"outside\" is reserved"},
    {"a torus named like the scale-up network", [](FabricSpec& s) { s.torus->name = "nvlink"; },
     "spec.torus.name: \"nvlink\" is reserved"},
    {"a torus named like a level", [](FabricSpec& s) { s.torus->name = "leaf"; },
     "spec.torus.name: \"leaf\" is already the name of a level"},
    {"a torus without dimensions", [](FabricSpec& s) { s.torus->dimensions.clear(); },
     "spec.torus.dimensions: must have 1 to 3 entries, has 0"},
    {"a torus of four dimensions",
     [](FabricSpec& s) {
       s.torus->dimensions = {{"a", 2, true}, {"b", 2, true}, {"c", 2, true}, {"d", 2, true}};
     },
     "spec.torus.dimensions: must have 1 to 3 entries, has 4"},
    {"a dimension without a key", [](FabricSpec& s) { s.torus->dimensions[1].label_key = ""; },
     "spec.torus.dimensions[1].labelKey: required"},
    {"two dimensions of one key", [](FabricSpec& s) { s.torus->dimensions[1].label_key = "x"; },
     "spec.torus.dimensions[1].labelKey: \"x\" is already the key of another dimension"},
    {"a dimension without nodes", [](FabricSpec& s) { s.torus->dimensions[0].size = 0; },
     "spec.torus.dimensions[0].size: 0 is not from 1 to 1024"},
    {"a dimension that is too long", [](FabricSpec& s) { s.torus->dimensions[0].size = 1025; },
     "spec.torus.dimensions[0].size: 1025 is not from 1 to 1024"},
    {"a torus of too many places",
     [](FabricSpec& s) {
       s.torus->dimensions = {{"a", 1024, true}, {"b", 1024, true}, {"c", 2, true}};
     },
     "spec.torus.dimensions: 2097152 places are more than the 1048576 that a torus may have"},
    {"a torus of an unknown level", [](FabricSpec& s) { s.torus->level = "pod"; },
     "spec.torus.level: \"pod\" is not the name of a level"},
    {"a torus of another shape",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1", "s2"}, {4, 4}, {}}, {{"s3"}, {16, 1}, {true, false}}};
     },
     ""},
    {"shapes without a level",
     [](FabricSpec& s) {
       s.torus->level = "";
       s.torus->shapes = {{{"s1"}, {4, 4}, {}}};
     },
     "spec.torus.shapes: needs spec.torus.level, the level whose domains the shapes name"},
    {"too many shapes", [](FabricSpec& s) { s.torus->shapes.resize(65); },
     "spec.torus.shapes: 65 are more than 64"},
    {"a shape of no domain",
     [](FabricSpec& s) {
       s.torus->shapes = {{{}, {4, 4}, {}}};
     },
     "spec.torus.shapes[0].domains: required"},
    {"a shape of too many domains",
     [](FabricSpec& s) {
       s.torus->shapes = {{std::vector<std::string>(1025, "s"), {4, 4}, {}}};
     },
     "spec.torus.shapes[0].domains: 1025 are more than 1024"},
    {"a shape of a domain without a name",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1", ""}, {4, 4}, {}}};
     },
     "spec.torus.shapes[0].domains[1]: required"},
    {"a domain with two shapes",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1"}, {4, 4}, {}}, {{"s2", "s1"}, {4, 4}, {}}};
     },
     "spec.torus.shapes[1].domains[1]: \"s1\" is already in spec.torus.shapes[0]"},
    {"a shape of three dimensions where there are two",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1"}, {4, 4, 4}, {}}};
     },
     "spec.torus.shapes[0].sizes: must have one entry for each of the 2 dimensions, has 3"},
    {"a shape that wraps along one dimension of two",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1"}, {4, 4}, {true}}};
     },
     "spec.torus.shapes[0].wraps: must have one entry for each of the 2 dimensions, has 1"},
    {"a shape without nodes",
     [](FabricSpec& s) {
       s.torus->shapes = {{{"s1"}, {4, 0}, {}}};
     },
     "spec.torus.shapes[0].sizes[1]: 0 is not from 1 to 1024"},
    {"a shape of too many places",
     [](FabricSpec& s) {
       s.torus->dimensions.push_back({"z", 2, true});
       s.torus->shapes = {{{"s1"}, {1024, 1024, 2}, {}}};
     },
     "spec.torus.shapes[0].sizes: 2097152 places are more than the 1048576 that a torus may have"},
    {"a scale-up network without a name", [](FabricSpec& s) { s.scale_up->name = ""; },
     "spec.scaleUp.name: required"},
    {"a scale-up network named node", [](FabricSpec& s) { s.scale_up->name = "node"; },
     "spec.scaleUp.name: \"node\" is reserved"},
    {"a scale-up network without a key", [](FabricSpec& s) { s.scale_up->label_key = ""; },
     "spec.scaleUp.labelKey: required"},
    {"no rails", [](FabricSpec& s) { s.rails->count = 0; }, "spec.rails.count: 0 is below 1"},
    {"too few rail keys", [](FabricSpec& s) { s.rails->count = 8; },
     "spec.rails.leafLabelKeys: 2 keys for 8 rails"},
    {"a rail count alone",
     [](FabricSpec& s) {
       s.rails = RailsSpec{8, {}};
     },
     ""},
    {"one rail key twice",
     [](FabricSpec& s) {
       s.rails->leaf_label_keys = {"r", "r"};
     },
     "spec.rails.leafLabelKeys[1]: \"r\" is given twice"},
    {"an empty rail key",
     [](FabricSpec& s) {
       s.rails->leaf_label_keys = {"r", ""};
     },
     "spec.rails.leafLabelKeys[1]: required"},
    {"rail keys without a level", [](FabricSpec& s) { s.levels.clear(); },
     "spec.rails.leafLabelKeys: needs a level: the leaves define the domains of the narrowest one"},
    {"an unknown operator", [](FabricSpec& s) { s.node_selector->match_expressions[0].op = "=="; },
     "spec.nodeSelector.matchExpressions[0].operator: \"==\" is not one of In, NotIn, Exists, "
     "DoesNotExist, Gt, Lt"},
    {"In without values",
     [](FabricSpec& s) { s.node_selector->match_expressions[0].values.clear(); },
     "spec.nodeSelector.matchExpressions[0].values: required with operator In"},
    {"Exists with values",
     [](FabricSpec& s) { s.node_selector->match_expressions[0].op = "Exists"; },
     "spec.nodeSelector.matchExpressions[0].values: not allowed with operator Exists"},
    {"Gt of a word", [](FabricSpec& s) { s.node_selector->match_expressions[1].values = {"x"}; },
     "spec.nodeSelector.matchExpressions[1].values: must be one integer with operator Gt"},
    {"an expression without a key",
     [](FabricSpec& s) { s.node_selector->match_expressions[1].key = ""; },
     "spec.nodeSelector.matchExpressions[1].key: required"},
    {"a negative tolerance", [](FabricSpec& s) { s.cost_tolerance_percent = -1; },
     "spec.costTolerancePercent: -1 is negative"},
};

TEST(CheckSpecTest, NamesTheFieldThatIsWrong) {
  for (const Case& c : kCases) {
    FabricSpec spec = Good();
    c.change(spec);
    const Status status = CheckSpec(spec);
    EXPECT_EQ(status ? "" : status.error().message, c.want) << c.name;
    const Result<Fabric> fabric = Fabric::Build(spec, {}, {});
    EXPECT_EQ(fabric ? "" : fabric.error().message, c.want) << c.name;
  }
}

}  // namespace
}  // namespace weft::fabric
