#include "operator/watch/table.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace weft::watch {
namespace {

struct Thing {
  api::ObjectMeta meta;
};

std::shared_ptr<const Thing> Make(const std::string& uid, const std::string& version) {
  Thing thing;
  thing.meta.key = {"ns", "a"};
  thing.meta.uid = uid;
  thing.meta.resource_version = version;
  return std::make_shared<const Thing>(std::move(thing));
}

const api::ObjectKey kKey = {"ns", "a"};

std::string VersionIn(const ObjectTable<Thing>& table) {
  const auto thing = table.Find(kKey);
  return thing ? thing->meta.resource_version : "";
}

TEST(TableTest, AnOlderStateNeverReplacesANewerOne) {
  ObjectTable<Thing> table;
  EXPECT_TRUE(table.Put(Make("u", "9")).second);
  EXPECT_FALSE(table.Put(Make("u", "8")).second);
  EXPECT_TRUE(table.Put(Make("u", "10")).second);
  EXPECT_EQ(VersionIn(table), "10");
}

TEST(TableTest, AnObjectThatWentDoesNotComeBackWithALateAnswer) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove(kKey);
  EXPECT_FALSE(table.Put(Make("u", "6")).second);
  EXPECT_EQ(VersionIn(table), "");
}

TEST(TableTest, AnotherObjectOfThatNameIsTaken) {
  ObjectTable<Thing> table;
  table.Put(Make("u", "5"));
  table.Remove(kKey);
  EXPECT_TRUE(table.Put(Make("v", "7")).second);
  EXPECT_EQ(VersionIn(table), "7");
}

TEST(TableTest, RemembersARemovedNameUntilItsLastRemovalIsForgotten) {
  ObjectTable<Thing> table;
  for (const char* uid : {"u", "v"}) {
    table.Put(Make(uid, "5"));
    table.Remove(kKey);
  }
  // As many others as are remembered, but one: the first time that the name went is forgotten.
  for (int i = 0; i < 65'535; ++i) {
    Thing other = *Make("w", "5");
    other.meta.key.name = std::to_string(i);
    table.Put(std::make_shared<const Thing>(other));
    table.Remove(other.meta.key);
  }
  EXPECT_FALSE(table.Put(Make("v", "6")).second);
  EXPECT_TRUE(table.Put(Make("u", "6")).second);
}

TEST(TableTest, IgnoresMalformedResourceVersion) {
  EXPECT_EQ(VersionOf("12"), 12U);
  EXPECT_EQ(VersionOf(""), 0U);
  EXPECT_EQ(VersionOf("1x"), 0U);
  EXPECT_EQ(VersionOf("99999999999999999999"), 0U);
}

}  // namespace
}  // namespace weft::watch
