#include "operator/base/text_map.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace weft {
namespace {

using Texts = std::map<std::string, std::string>;

Texts Held(const TextMap& map) {
  Texts texts;
  for (const auto& [key, value] : map) texts.emplace(key, value);
  return texts;
}
std::vector<std::string> KeysInOrder(const TextMap& map) {
  std::vector<std::string> keys;
  for (const auto& entry : map) keys.emplace_back(entry.first);
  return keys;
}

TEST(TextMapTest, KeysAreAscendingWhateverTheOrderTheyCameIn) {
  TextMap map;
  for (const char* key : {"b", "d", "a", "c", ""}) map.Set(key, std::string("value of ") + key);
  EXPECT_EQ(KeysInOrder(map), (std::vector<std::string>{"", "a", "b", "c", "d"}));
  EXPECT_EQ(map.size(), 5U);
  EXPECT_EQ(map, TextMap(Held(map)));
}

TEST(TextMapTest, SetTakesThePlaceOfWhatWasThereAndAddLeavesIt) {
  TextMap map = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  map.Set("b", "much longer than before");
  map.Add("b", "ignored");
  map.Add("bb", "");
  EXPECT_EQ(Held(map),
            (Texts{{"a", "1"}, {"b", "much longer than before"}, {"bb", ""}, {"c", "3"}}));
}

TEST(TextMapTest, ErasedEntriesAreGoneAndOthersStay) {
  TextMap map = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  map.Erase("b");
  map.Erase("absent");
  EXPECT_EQ(Held(map), (Texts{{"a", "1"}, {"c", "3"}}));
  map.Erase("a");
  map.Erase("c");
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map, TextMap());
}

TEST(TextMapTest, FindsOnlyKeysThatItHolds) {
  const TextMap map = {{"a", "1"}, {"c", ""}};
  EXPECT_EQ(map.At("a"), "1");
  EXPECT_EQ(map.At("c"), "");
  EXPECT_EQ(map.At("b"), std::nullopt);
  EXPECT_EQ(map.find("b"), map.end());
  EXPECT_EQ(map.lower_bound("b")->first, "c");
  EXPECT_EQ(map.lower_bound("d"), map.end());
  EXPECT_EQ(TextMap().At(""), std::nullopt);
}

TEST(TextMapTest, AValueMayComeFromTheMapItself) {
  TextMap map = {{"a", "of a"}, {"z", "of z"}};
  map.Set("a", *map.At("z"));
  map.Set("b", *map.At("a"));
  EXPECT_EQ(Held(map), (Texts{{"a", "of z"}, {"b", "of z"}, {"z", "of z"}}));
}

TEST(TextMapTest, BytesOfAnyKindAndLargeValuesComeBackAsTheyWere) {
  const std::string large(300'000, 'x');
  TextMap map;
  map.Set(std::string("nul\0key", 7), std::string("\0\xff", 2));
  map.Set("large", large);
  EXPECT_EQ(map.At(std::string("nul\0key", 7)), std::string("\0\xff", 2));
  EXPECT_EQ(map.At("large"), large);
}

}  // namespace
}  // namespace weft
