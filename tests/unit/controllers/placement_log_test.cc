#include "operator/controllers/placement_log.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::controllers {
namespace {

using std::chrono::milliseconds;

std::shared_ptr<const api::Placement> Decided(const std::string& name, const std::string& version,
                                              std::vector<std::string> nodes = {"n0"}) {
  api::Placement placement;
  placement.meta.key = {"team-a", name};
  placement.meta.uid = "uid-" + name;
  placement.meta.resource_version = version;
  placement.nodes = std::move(nodes);
  return std::make_shared<const api::Placement>(std::move(placement));
}

// "NUMBER NAME@VERSION" or "NUMBER NAME gone", each; "forgotten" for nothing.
std::vector<std::string> Told(const PlacementLog& log, std::uint64_t number) {
  const auto changes = log.After(number, milliseconds(0));
  if (!changes) return {"forgotten"};
  std::vector<std::string> told;
  for (const PlacementLog::Change& change : *changes) {
    told.push_back(std::to_string(change.number) + " " + change.key.name +
                   (change.placement ? "@" + change.placement->meta.resource_version : " gone"));
  }
  return told;
}

using Texts = std::vector<std::string>;

TEST(PlacementLogTest, ChangesAreToldInOrderAndOnceEach) {
  PlacementLog log;
  log.Put(Decided("a", "1"));
  log.Put(Decided("b", "2"));
  log.Put(Decided("a", "1"));  // the watch repeats what the answer said
  EXPECT_EQ(Told(log, 0), (Texts{"1 a@1", "2 b@2"}));
  EXPECT_EQ(Told(log, 1), (Texts{"2 b@2"}));
  log.Remove({"team-a", "b"});
  log.Remove({"team-a", "b"});
  EXPECT_EQ(Told(log, 2), (Texts{"3 b gone"}));
  EXPECT_EQ(Told(log, 3), Texts{});
}

TEST(PlacementLogTest, ReplaysLastEventToLateSubscriber) {
  PlacementLog log;
  log.Put(Decided("a", "1"));
  log.Put(Decided("b", "2"));
  log.Put(Decided("a", "3"));
  log.Remove({"team-a", "b"});
  EXPECT_EQ(Told(log, 0), (Texts{"3 a@3", "4 b gone"}));
  EXPECT_EQ(Told(log, 3), (Texts{"4 b gone"}));
  log.Put(Decided("b", "5"));
  EXPECT_EQ(Told(log, 0), (Texts{"3 a@3", "5 b@5"}));
}

TEST(PlacementLogTest, AnUndecidedPlacementIsNoneAndOneThatGaveItsNodesBackIsGone) {
  PlacementLog log;
  log.Put(Decided("a", "1", {}));
  EXPECT_EQ(Told(log, 0), Texts{});
  log.Put(Decided("a", "2"));
  EXPECT_EQ(Told(log, 0), (Texts{"1 a@2"}));
  log.Put(Decided("a", "3", {}));
  EXPECT_EQ(Told(log, 0), (Texts{"2 a gone"}));
}

TEST(PlacementLogTest, ListsPlacementsWithTheNumberToContinueFrom) {
  PlacementLog log;
  for (const char* name : {"b", "a", "c"}) log.Put(Decided(name, "1"));
  log.Remove({"team-a", "c"});
  const PlacementLog::Standing all = log.All();
  ASSERT_EQ(all.placements.size(), 2U);
  EXPECT_EQ(all.placements[0]->meta.key.name, "a");
  EXPECT_EQ(all.placements[1]->meta.key.name, "b");
  EXPECT_EQ(Told(log, all.number), Texts{});
}

TEST(PlacementLogTest, WhoComesTooLateIsToldSo) {
  PlacementLog log(2);
  for (const char* name : {"a", "b", "c", "d"}) log.Put(Decided(name, "1"));
  for (const char* name : {"a", "b", "c"}) log.Remove({"team-a", name});
  EXPECT_EQ(Told(log, 4), Texts{"forgotten"});  // 5 was that a is gone
  EXPECT_EQ(Told(log, 5), (Texts{"6 b gone", "7 c gone"}));
  EXPECT_EQ(log.All().placements.size(), 1U);
}

TEST(PlacementLogTest, HoldsNothingOfWhatIsGoneButItsKey) {
  PlacementLog log;
  const auto first = Decided("a", "1");
  const auto second = Decided("a", "2");
  log.Put(first);
  log.Put(second);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 2);
  log.Remove({"team-a", "a"});
  EXPECT_EQ(second.use_count(), 1);
}

TEST(PlacementLogTest, ANumberThatWasNeverGivenIsRefused) {
  PlacementLog log;
  EXPECT_EQ(Told(log, 1), Texts{"forgotten"});
}

}  // namespace
}  // namespace weft::controllers
