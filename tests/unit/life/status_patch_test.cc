#include "operator/life/status_patch.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "tests/support/crd_schema.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

Json Patch(const Json& before, const Json& after) {
  return StatusPatch(before, after, kJobStatusFields);
}

TEST(StatusPatchTest, RemovesFieldsThatTheNewStatusLacks) {
  EXPECT_EQ(Patch({{"attempt", 1}, {"completionTime", "now"}}, {{"attempt", 2}}),
            Json({{"attempt", 2}, {"completionTime", nullptr}}));
}

TEST(StatusPatchTest, AFieldOfANewerVersionStaysAndCausesNoWrite) {
  const Json before = {{"attempt", 1}, {"newer", 7}, {"workers", {{"ready", 1}, {"newer", 7}}}};
  EXPECT_EQ(Patch(before, {{"attempt", 2}, {"workers", {{"ready", 2}}}}),
            Json({{"attempt", 2}, {"workers", {{"ready", 2}}}}));
  EXPECT_EQ(Patch(before, {{"attempt", 1}, {"workers", {{"ready", 1}}}}), Json());
}

TEST(StatusPatchTest, AnObjectWithoutStatusIsGivenAllOfIt) {
  EXPECT_EQ(Patch(Json::object(), {{"attempt", 0}}), Json({{"attempt", 0}}));
  EXPECT_EQ(Patch("not an object", {{"attempt", 0}}), Json({{"attempt", 0}}));
}

TEST(StatusPatchTest, TheFieldsAreThoseOfTheDefinitions) {
  const auto fields = [](const std::string& plural) {
    std::set<std::string> names;
    const Json status = testing::CrdSchema(plural).at("properties").at("status").at("properties");
    for (const auto& [name, schema] : status.items()) names.insert(name);
    return names;
  };
  std::set<std::string> of_jobs(kJobStatusFields.begin(), kJobStatusFields.end());
  EXPECT_TRUE(of_jobs.insert("admission").second);  // the dry run writes it, apart from the rest
  EXPECT_TRUE(of_jobs.insert("queue").second);      // a step of its own (WriteQueue)
  EXPECT_EQ(of_jobs, fields("trainingjobs"));
  EXPECT_EQ(std::set<std::string>(kFabricStatusFields.begin(), kFabricStatusFields.end()),
            fields("fabrics"));
}

}  // namespace
}  // namespace weft::life
