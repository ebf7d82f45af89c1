#include "operator/watch/snapshot_map.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

namespace weft::watch {
namespace {

struct Thing {
  api::ObjectMeta meta;
  int value = 0;
};
using Map = SnapshotMap<Thing>;
using Plain = std::map<api::ObjectKey, int>;

std::shared_ptr<const Thing> Make(const api::ObjectKey& key, int value) {
  Thing thing;
  thing.meta.key = key;
  thing.value = value;
  return std::make_shared<const Thing>(std::move(thing));
}

Plain Contents(const Map::Snapshot& snapshot) {
  Plain all;
  api::ObjectKey last;
  snapshot.Each([&](const auto& thing) {
    EXPECT_LT(last, thing->meta.key);
    last = thing->meta.key;
    all[thing->meta.key] = thing->value;
  });
  EXPECT_EQ(all.size(), snapshot.size());
  return all;
}

// Against std::map, with snapshots that are kept while the map goes on.
TEST(SnapshotMapTest, DoesAsAMapDoesAndASnapshotNeverChanges) {
  std::mt19937 random(7);
  Map map;
  Plain plain;
  std::vector<std::pair<Map::Snapshot, Plain>> kept;
  for (int i = 0; i < 20'000; ++i) {
    // It grows at first and shrinks at last.
    const api::ObjectKey key{"s" + std::to_string(random() % 3), std::to_string(random() % 3'000)};
    const bool erase = random() % 20 < (i < 12'000 ? 3U : 16U);
    const auto before = plain.find(key);
    const auto was = erase ? map.Erase(key) : map.Put(Make(key, i));
    ASSERT_EQ(was == nullptr, before == plain.end());
    ASSERT_EQ(was ? was->value : 0, was ? before->second : 0);
    if (erase) {
      plain.erase(key);
    } else {
      plain[key] = i;
    }
    ASSERT_EQ(map.size(), plain.size());
    if (random() % 500 == 0) kept.emplace_back(map.Take(), plain);
  }
  for (const auto& [snapshot, then] : kept) ASSERT_EQ(Contents(snapshot), then);
  EXPECT_EQ(Contents(map.Take()), plain);
}

TEST(SnapshotMapTest, FindsByKeyAndByNamespace) {
  Map map;
  EXPECT_EQ(map.Find({"b", "0"}), nullptr);
  for (int i = 0; i < 2'000; ++i) {
    map.Put(Make({i % 2 == 0 ? "a" : "b", std::to_string(i)}, i));
  }
  map.Put(Make({"c", "last"}, 0));
  EXPECT_EQ(map.Find({"b", "1999"})->value, 1999);
  EXPECT_EQ(map.Find({"b", "2000"}), nullptr);
  const auto snapshot = map.Take();
  EXPECT_EQ(snapshot.Find({"a", "4"})->value, 4);
  const auto count = [&](const std::string& space) {
    int found = 0;
    snapshot.EachIn(space, [&](const auto& thing) { found += thing->meta.key.space == space; });
    return found;
  };
  EXPECT_EQ(count("a"), 1'000);
  EXPECT_EQ(count("b"), 1'000);
  EXPECT_EQ(count("c"), 1);
  EXPECT_EQ(count(""), 0);
  EXPECT_EQ(count("bb"), 0);
}

TEST(SnapshotMapTest, IsEmptyAfterErasingAllKeysInOrder) {
  Map map;
  for (int i = 0; i < 1'024; ++i) map.Put(Make({"", std::to_string(1'000 + i)}, i));
  EXPECT_EQ(Contents(map.Take()).size(), 1'024U);
  for (int i = 0; i < 1'024; ++i) map.Erase({"", std::to_string(1'000 + i)});
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(Contents(map.Take()).size(), 0U);
}

}  // namespace
}  // namespace weft::watch
