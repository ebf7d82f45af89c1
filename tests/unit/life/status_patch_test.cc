#include "operator/life/status_patch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <string_view>

#include "tests/support/crd_schema.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

Json Patch(const Json& before, const Json& after) {
  return StatusPatch(before, after, kJobStatusFields, kInnerFields);
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

// The failure of a later attempt has no exit code; that of the earlier one must not stay.
TEST(StatusPatchTest, RemovesWhatANestedObjectLacks) {
  EXPECT_EQ(Patch({{"lastFailure", {{"attempt", 1}, {"exitCode", 137}, {"node", "n7"}}}},
                  {{"lastFailure", {{"attempt", 2}, {"node", "n8"}}}}),
            Json({{"lastFailure", {{"attempt", 2}, {"exitCode", nullptr}, {"node", "n8"}}}}));
}

// A random object of a few members, which are numbers, lists or objects again.
Json AnyObject(std::mt19937& random, int depth) {
  Json object = Json::object();
  for (const char* key : {"a", "b", "c"}) {
    switch (random() % 5) {
      case 0:
        object[key] = random() % 3;
        break;
      case 1:
        object[key] = Json::array({random() % 3, {{"x", 1}}});
        break;
      case 2:
        if (depth > 0) object[key] = AnyObject(random, depth - 1);
        break;
      default:
        break;
    }
  }
  return object;
}

TEST(MergePatchTest, BeforeAndPatchMakeAfter) {
  std::mt19937 random(1);
  for (int i = 0; i < 5'000; ++i) {
    const Json before = AnyObject(random, 3);
    const Json after = AnyObject(random, 3);
    Json patched = before;
    patched.merge_patch(MergePatch(before, after));
    ASSERT_EQ(patched, after) << before << " " << after;
    ASSERT_EQ(MergePatch(before, before), Json::object());
  }
}

// Fields that `after` has and those that are its own are as in `after`, and all others as before.
TEST(StatusPatchTest, BeforeAndPatchMakeAfterInTheFieldsThatAreItsOwn) {
  constexpr std::array<std::string_view, 1> kOwn = {"a"};
  std::mt19937 random(1);
  for (int i = 0; i < 5'000; ++i) {
    const Json before = AnyObject(random, 3);
    const Json after = AnyObject(random, 3);
    Json expected = before;
    expected.erase("a");
    for (const auto& [name, value] : after.items()) expected[name] = value;
    const Json patch = StatusPatch(before, after, kOwn);
    Json patched = before;
    patched.merge_patch(patch.is_null() ? Json::object() : patch);
    ASSERT_EQ(patched, expected) << before << " " << after;
    ASSERT_EQ(patch.is_null(), before == expected);
  }
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
  EXPECT_TRUE(of_jobs.insert("measuredStepSeconds").second);  // StepMetricController
  EXPECT_EQ(of_jobs, fields("trainingjobs"));
  const Json status =
      testing::CrdSchema("trainingjobs").at("properties").at("status").at("properties");
  for (const std::string_view field : kInnerFields) {
    const bool known = std::any_of(status.begin(), status.end(), [&](const Json& one) {
      return one.contains("properties") && one.at("properties").contains(field);
    });
    EXPECT_TRUE(known) << field;
  }
  EXPECT_EQ(std::set<std::string>(kFabricStatusFields.begin(), kFabricStatusFields.end()),
            fields("fabrics"));
}

}  // namespace
}  // namespace weft::life
