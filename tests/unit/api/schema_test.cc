#include <fstream>
#include <map>
#include <sstream>

#include "gtest/gtest.h"
#include "operator/api/decode.h"
#include "operator/api/encode.h"
#include "operator/fabric/link_types.h"
#include "operator/manifest/reader.h"
#include "tests/support/source_dir.h"
#include "tests/unit/api/structural_schema.h"

namespace weft::api {
namespace {

using nlohmann::json;
using testing::StructuralSchema;

std::string ReadFile(const std::string& path) {
  std::ifstream file(weft::testing::SourceDir() + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const json& Table() {
  static const json table = json::parse(ReadFile("tests/data/schema_cases.json"));
  return table;
}

json Definition(const std::string& plural) {
  const std::string path = "crds/weft.dev_" + plural + ".yaml";
  Result<json> document = manifest::ReadDocument({path, ReadFile(path)});
  EXPECT_TRUE(document) << (document ? "" : document.error().message);
  return *std::move(document);
}

const StructuralSchema& SchemaOf(const std::string& kind) {
  static const std::map<std::string, StructuralSchema> schemas = [] {
    std::map<std::string, StructuralSchema> all;
    for (const char* plural : {"trainingjobs", "placements", "fabrics"}) {
      const json definition = Definition(plural);
      all.emplace(definition["spec"]["names"]["kind"].get<std::string>(),
                  StructuralSchema(definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]));
    }
    return all;
  }();
  return schemas.at(kind);
}

json Patched(const std::string& kind, const json& patch) {
  json object = Table()["bases"][kind];
  object.merge_patch(patch);
  return object;
}

// "" where the decoder takes the object.
std::string DecoderError(const json& object) {
  const std::string kind = object["kind"];
  Inputs inputs;
  const Status status = DecodeInto(object, "table", inputs);
  return status ? "" : status.error().message;
}

std::string Name(const json& object) {
  const json& meta = object["metadata"];
  const std::string space = meta.value("namespace", "");
  return object["kind"].get<std::string>() + " " + (space.empty() ? "" : space + "/") +
         meta["name"].get<std::string>();
}

TEST(SchemaTest, TheTableIsLargeAndNamesEveryCaseOnce) {
  std::set<std::string> names;
  for (const json& one : Table()["cases"]) EXPECT_TRUE(names.insert(one["name"]).second) << one;
  EXPECT_GE(names.size(), 120u);
}

TEST(SchemaTest, TheDecodersJudgeEveryObjectAsTheTableSays) {
  for (const json& one : Table()["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const json object = Patched(one["kind"], one["patch"]);
    const std::string error = DecoderError(object);
    if (!one.contains("path")) {
      EXPECT_EQ(error, "");
      continue;
    }
    const std::string prefix =
        "table: " + Name(object) + ": " + one["path"].get<std::string>() + ": ";
    EXPECT_EQ(error.substr(0, prefix.size()), prefix) << error;
    EXPECT_GT(error.size(), prefix.size());
  }
}

TEST(SchemaTest, TheSchemasJudgeEveryObjectAsTheTableSays) {
  for (const json& one : Table()["cases"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    const auto wrong = SchemaOf(one["kind"]).Wrong(Patched(one["kind"], one["patch"]));
    std::vector<std::string> want;
    if (one.value("seenBy", "") == "schema") want = {one["path"].get<std::string>()};
    EXPECT_EQ(wrong, want);
  }
}

TEST(SchemaTest, BothSidesOfAnUpdateAreGoodObjects) {
  for (const json& one : Table()["updates"]) {
    SCOPED_TRACE(one["name"].get<std::string>());
    for (const char* side : {"old", "new"}) {
      const json object = Patched(one["kind"], one[side]);
      EXPECT_EQ(DecoderError(object), "");
      EXPECT_EQ(SchemaOf(one["kind"]).Wrong(object), std::vector<std::string>());
    }
  }
}

// What the value holds, so that two decoded jobs can be compared.
json Shown(const TrainingJob& job) {
  const FailurePolicy& policy = job.failure_policy;
  json shown = {{"suspend", job.suspend},
                {"framework", static_cast<int>(job.framework.type)},
                {"accelerator", EncodeAccelerator(job.accelerator)},
                {"parallelism", EncodeParallelism(job.parallelism)},
                {"startup", job.startup_timeout_seconds},
                {"maxRestarts", policy.max_restarts},
                {"resets", policy.reset_after_seconds.has_value()},
                {"infrastructure", policy.infrastructure}};
  if (job.model) shown["model"] = EncodeModel(*job.model);
  return shown;
}

TEST(SchemaTest, TheDefaultsOfAJobAreThoseOfTheDecoder) {
  const json bare = Patched("TrainingJob", json::parse(R"({"spec": {
      "framework": null, "accelerator": null, "parallelism": null, "topology": null,
      "model": {"transformer": {"moe": {"experts": 4, "layers": 2}}}}})"));
  const json defaulted = SchemaOf("TrainingJob").Defaulted(bare);
  ASSERT_NE(defaulted, bare);
  EXPECT_EQ(defaulted["spec"]["parallelism"]["rankOrder"],
            json::parse(R"(["Tensor", "Context", "Data", "Pipeline"])"));
  EXPECT_EQ(defaulted["spec"]["startupTimeoutSeconds"], 900);
  const auto plain = DecodeTrainingJob(bare, "bare"), full = DecodeTrainingJob(defaulted, "full");
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(Shown(*plain), Shown(*full));
}

TEST(SchemaTest, TheDefaultsOfAPlacementAreThoseOfTheDecoder) {
  const json bare = Patched("Placement", json::parse(R"({"spec": {
      "accelerator": {"resourceName": null}, "parallelism": null,
      "workerIndexLabels": [{"key": "a"}]}})"));
  const json defaulted = SchemaOf("Placement").Defaulted(bare);
  ASSERT_NE(defaulted, bare);
  const auto plain = DecodePlacement(bare, "bare"), full = DecodePlacement(defaulted, "full");
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(EncodePlacement(*plain), EncodePlacement(*full));
}

TEST(SchemaTest, TheDefaultsOfAFabricAreThoseOfTheDecoder) {
  const json bare = Patched("Fabric", json::parse(R"({"spec": {
      "levels": [{"name": "leaf", "labelKey": "x", "link": {"type": "RoCE400"}}],
      "scaleUp": {"name": null}, "outside": {}, "nodeLink": {},
      "torus": {"dimensions": [{"labelKey": "y", "size": 4}]},
      "planes": [{"name": "blue", "labelKey": "z", "link": {"type": "RoCE400"}}],
      "unusable": {"conditions": [{"type": "GpuSick"}]}}})"));
  const json defaulted = SchemaOf("Fabric").Defaulted(bare);
  ASSERT_NE(defaulted, bare);
  const auto plain = DecodeFabric(bare, "bare"), full = DecodeFabric(defaulted, "full");
  ASSERT_TRUE(plain) << plain.error().message;
  ASSERT_TRUE(full) << full.error().message;
  EXPECT_EQ(plain->spec, full->spec);
}

TEST(SchemaTest, EveryKnownLinkTypeIsTaken) {
  for (const fabric::LinkType& type : fabric::KnownLinkTypes()) {
    const json object = Patched("Fabric", {{"spec", {{"outside", {{"type", type.name}}}}}});
    EXPECT_EQ(DecoderError(object), "") << type.name;
  }
}

TEST(SchemaTest, EncodedObjectsFitTheSchema) {
  for (const json& one : Table()["cases"]) {
    if (one.contains("path") || one["kind"] == "TrainingJob") continue;
    SCOPED_TRACE(one["name"].get<std::string>());
    const json object = Patched(one["kind"], one["patch"]);
    const json again = one["kind"] == "Fabric"
                           ? json(EncodeFabric(*DecodeFabric(object, "table")))
                           : json(EncodePlacement(*DecodePlacement(object, "table")));
    EXPECT_EQ(SchemaOf(one["kind"]).Wrong(again), std::vector<std::string>());
  }
}

}  // namespace
}  // namespace weft::api
