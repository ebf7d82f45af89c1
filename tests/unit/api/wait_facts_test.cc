#include "operator/api/wait_facts.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/api/decode.h"

namespace weft::api {
namespace {

using Json = nlohmann::json;

Json Object(const Json& annotations) {
  return {
      {"apiVersion", "weft.dev/v1alpha1"},
      {"kind", "Placement"},
      {"metadata", {{"name", "p"}, {"namespace", "ns"}, {"annotations", annotations}}},
      {"spec",
       {{"workers", 1}, {"accelerator", {{"resourceName", "nvidia.com/gpu"}, {"perWorker", 8}}}}}};
}

TEST(WaitFactsTest, AreReadFromFilesAndNeverFromAServer) {
  const Json object = Object({{kExcludedNodesAnnotation, ",a,,b"},
                              {kAvoidedNodesAnnotation, "c,"},
                              {kPreviousNodesAnnotation, "d"},
                              {kWaitedAnnotation, "0"}});
  const auto file = DecodePlacement(object, "f.yaml", Reading::kStrict);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->wait, (WaitFacts{{"a", "b"}, {"c"}, {"d"}, 0}));
  const auto served = DecodePlacement(object, "Placement", Reading::kServed);
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ(served->wait, WaitFacts());
}

TEST(WaitFactsTest, AWaitIsAWholeNumberOfSeconds) {
  for (const char* wrong : {"", "-1", "1s", "soon"}) {
    const Json object = Object({{kWaitedAnnotation, wrong}});
    const auto file = DecodePlacement(object, "f.yaml", Reading::kStrict);
    ASSERT_FALSE(file) << wrong;
    EXPECT_NE(file.error().message.find("metadata.annotations[weft.dev/waited-seconds]"),
              std::string::npos)
        << file.error().message;
    EXPECT_NE(file.error().message.find("must be a whole number of seconds"), std::string::npos);
    EXPECT_TRUE(DecodePlacement(object, "Placement", Reading::kServed)) << wrong;
  }
}

TEST(WaitFactsTest, AreWrittenAsTheyAreRead) {
  const WaitFacts facts = {{"a", "b"}, {}, {"d"}, 7};
  TextMap annotations = {{kAvoidedNodesAnnotation, "old"}, {"other", "x"}};
  EncodeWaitFacts(facts, annotations);
  EXPECT_FALSE(annotations.At(kAvoidedNodesAnnotation));
  EXPECT_EQ(annotations.At("other"), "x");
  Json as_json = Json::object();
  for (const auto& [key, value] : annotations) as_json[key] = value;
  const auto file = DecodePlacement(Object(as_json), "f.yaml", Reading::kStrict);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->wait, facts);
}

}  // namespace
}  // namespace weft::api
