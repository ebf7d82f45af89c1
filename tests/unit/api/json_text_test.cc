#include "operator/api/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace weft::api {
namespace {

TEST(ParseJson, TakesExactlyOneValue) {
  EXPECT_EQ(ParseJson(R"({"a":[1,null,"x"]})").dump(), R"({"a":[1,null,"x"]})");
  for (const char* wrong : {"", " ", "{", "{} {}", "{\"a\":}", "nul"}) {
    EXPECT_TRUE(ParseJson(wrong).is_discarded()) << wrong;
  }
}

TEST(JsonText, IsCompactAndKeepsTheOrderOfOrderedJson) {
  EXPECT_EQ(JsonText(nlohmann::json{{"b", 1}, {"a", true}}), R"({"a":true,"b":1})");
  EXPECT_EQ(JsonText(nlohmann::ordered_json{{"b", 1}, {"a", true}}), R"({"b":1,"a":true})");
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(JsonText(nlohmann::json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace weft::api
