#include "operator/objective/room_table.h"

#include <optional>

#include "gtest/gtest.h"
#include "operator/base/random.h"
#include "tests/support/any_instance.h"

namespace weft::objective {
namespace {

using fabric::Claims;
using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using rules::SlotQuery;
using testing::RandomInstance;

constexpr std::uint64_t kInstances = 60;
constexpr int kChanges = 40;

void ExpectSame(const Claims& claims, const RoomTable& kept, const RoomTable& made) {
  const fabric::Fabric& fabric = claims.fabric();
  for (Tier t{0}; t <= fabric.node_tier(); ++t) {
    std::uint64_t most = 0;
    for (DomainIndex d{0}; d < fabric.domains(t).EndIndex(); ++d) {
      ASSERT_EQ(kept.sum(t, d), made.sum(t, d)) << "tier " << t.Raw() << ", domain " << d.Raw();
      most = std::max(most, made.sum(t, d));
    }
    ASSERT_GE(kept.most(t), most);
    ASSERT_EQ(made.most(t), most);
  }
}

void ExpectSame(const Claims& claims, const FreeTable& kept, const FreeTable& made) {
  const fabric::Fabric& fabric = claims.fabric();
  for (Tier t{0}; t <= fabric.node_tier(); ++t) {
    for (DomainIndex d{0}; d < fabric.domains(t).EndIndex(); ++d) {
      ASSERT_EQ(kept.wholly_free(t, d), made.wholly_free(t, d))
          << "tier " << t.Raw() << ", domain " << d.Raw();
    }
  }
}

SlotQuery QueryOf(const Request& request, SplitMix64& random) {
  SlotQuery query;
  query.pod = &request.pod;
  query.job = request.job;
  query.cap = 1 + static_cast<std::uint32_t>(random.Below(20));
  query.ignore_claims = random.Below(4) == 0;
  if (random.Below(4) == 0) query.excluded = request.excluded;
  if (request.pool_choices && !request.pool_choices->empty() && random.Below(2) == 0) {
    query.pools = request.pool_choices->front().pools;
  }
  return query;
}

// Adds a pod, takes one away, or starts anew from other claims.
void Change(const rules::PodRequirements& pod, const Claims& first, SplitMix64& random,
            Claims& claims, std::vector<NodeIndex>& added) {
  const std::uint64_t draw = random.Below(20);
  if (draw == 0) {
    claims = first;
    added.clear();
  } else if (draw < 8 && !added.empty()) {
    claims.Remove(added.back(), pod.requests);
    added.pop_back();
  } else {
    added.push_back(NodeIndex::Of(random.Below(claims.fabric().node_count())));
    claims.Add(added.back(), pod.requests);
  }
}

TEST(RoomTablesTest, AreThoseThatWouldBeMadeAnewAfterEveryChange) {
  for (std::uint64_t seed = 1; seed <= kInstances; ++seed) {
    SCOPED_TRACE(seed);
    const RandomInstance one = testing::MakeAnyInstance(seed);
    if (one.claims->fabric().node_count() == 0) continue;
    Claims claims = *one.claims;
    RoomTables tables(claims);
    SplitMix64 random(seed);
    std::vector<NodeIndex> added;
    for (int i = 0; i < kChanges; ++i) {
      for (std::uint64_t more = random.Below(3); more > 0; --more) {
        Change(one.request.pod, *one.claims, random, claims, added);
      }
      const SlotQuery query = QueryOf(one.request, random);
      ExpectSame(claims, *tables.Rooms(query), RoomTable(claims, query));
      ExpectSame(claims, *tables.Free(query.ignore_claims), FreeTable(claims, query.ignore_claims));
      if (HasFatalFailure()) return;
    }
  }
}

// The first problem whose tables can be kept, with nodes of several slots.
RandomInstance Plain() {
  for (std::uint64_t seed = 1;; ++seed) {
    RandomInstance one = testing::MakeAnyInstance(seed);
    const fabric::Fabric& fabric = one.claims->fabric();
    if (fabric.limits_power() || one.request.pod.claims_compute_domain) continue;
    SlotQuery query;
    query.pod = &one.request.pod;
    query.cap = 2;
    query.ignore_claims = true;
    if (RoomTable(*one.claims, query).most(fabric.node_tier()) == 2) return one;
  }
}

TEST(RoomTablesTest, JobsThatFillNoNodeShareATable) {
  const RandomInstance one = Plain();
  RoomTables tables(*one.claims);
  SlotQuery query;
  query.pod = &one.request.pod;
  query.cap = 1'000'000;
  const auto first = tables.Rooms(query);
  query.cap = 2'000'000;
  query.job = "other/job";
  EXPECT_EQ(tables.Rooms(query), first);
  query.cap = 1;
  EXPECT_NE(tables.Rooms(query), first);
}

// A kind that was not asked for lately is forgotten, and made again when it is.
TEST(RoomTablesTest, KeepsTheLastKinds) {
  const RandomInstance one = Plain();
  RoomTables tables(*one.claims);
  std::vector<rules::PodRequirements> pods(100, one.request.pod);
  std::weak_ptr<const RoomTable> first, last;
  for (std::size_t i = 0; i < pods.size(); ++i) {
    pods[i].tolerations.push_back({"key-" + std::to_string(i), "Exists", "", ""});
    SlotQuery query;
    query.pod = &pods[i];
    query.cap = 8;
    const auto table = tables.Rooms(query);
    if (i == 0) first = table;
    last = table;
    ExpectSame(*one.claims, *table, RoomTable(*one.claims, query));
  }
  EXPECT_TRUE(first.expired());
  EXPECT_FALSE(last.expired());
}

}  // namespace
}  // namespace weft::objective
