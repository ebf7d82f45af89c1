#include "operator/base/index.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <unordered_set>

#include "operator/fabric/fabric.h"

namespace weft {
namespace {

using fabric::DomainIndex;
using fabric::Fabric;
using fabric::PoolIndex;
using fabric::ResourceIndex;
using fabric::Tier;

static_assert(sizeof(Tier) == sizeof(std::uint32_t));
static_assert(std::is_trivially_copyable_v<Tier>);
static_assert(Tier{}.Raw() == 0 && Tier{3} - Tier{1} == 2 && Tier{1} + 2 == Tier{3});

template <typename A, typename B>
concept Mixes = std::is_convertible_v<A, B> || std::is_convertible_v<B, A> || requires(A a, B b) {
  a = b;
} || requires(A a, B b) {
  a == b;
} || requires(A a, B b) {
  a < b;
};
static_assert(Mixes<int, unsigned>);  // what it finds
static_assert(!Mixes<Tier, DomainIndex>);
static_assert(!Mixes<PoolIndex, ResourceIndex>);
static_assert(!Mixes<Tier, PoolIndex>);
static_assert(!Mixes<DomainIndex, ResourceIndex>);
static_assert(!std::is_convertible_v<std::uint32_t, Tier>);
static_assert(!std::is_convertible_v<Tier, std::uint32_t>);
static_assert(!std::is_constructible_v<Tier, DomainIndex>);

// The order of the arguments of calls that take two indexes.
template <typename A, typename B>
concept CountsAccelerators = requires(const Fabric& f, A a, B b) {
  f.AcceleratorsIn(a, b);
};
static_assert(CountsAccelerators<Tier, DomainIndex>);
static_assert(!CountsAccelerators<DomainIndex, Tier>);
static_assert(!CountsAccelerators<Tier, std::uint32_t>);

template <typename A, typename B>
concept AsksAPool = requires(const Fabric& f, A a, B b) {
  f.PoolOffers(a, b);
};
static_assert(AsksAPool<PoolIndex, ResourceIndex>);
static_assert(!AsksAPool<ResourceIndex, PoolIndex>);

template <typename I>
concept IndexesTiers = requires(const fabric::ByTier<int>& v, I i) {
  v[i];
};
static_assert(IndexesTiers<Tier>);
static_assert(!IndexesTiers<DomainIndex>);
static_assert(!IndexesTiers<std::uint32_t>);

TEST(Index, CountsUpAndDown) {
  Tier tier{1};
  EXPECT_EQ(tier++, Tier{1});
  EXPECT_EQ(++tier, Tier{3});
  EXPECT_EQ(tier--, Tier{3});
  EXPECT_EQ(--tier, Tier{1});
  std::vector<std::uint32_t> seen;
  for (Tier t{3}; t-- > Tier{0};) seen.push_back(t.Raw());
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{2, 1, 0}));
}

TEST(Index, HashesLikeItsNumber) {
  const std::unordered_set<Tier> tiers = {Tier{1}, Tier{2}, Tier{1}};
  EXPECT_EQ(tiers.size(), 2U);
}

TEST(IndexVector, IsIndexedInOrder) {
  IndexVector<Tier, int> items(Tier{2}, 7);
  items.push_back(9);
  EXPECT_EQ(items[Tier{2}], 9);
  EXPECT_EQ(items.EndIndex(), Tier{3});
  int sum = 0;
  for (const Tier tier : items.Indices()) sum += items[tier];
  EXPECT_EQ(sum, 23);
  items.resize(Tier{1});
  EXPECT_EQ(items.Items(), (std::vector<int>{7}));
}

TEST(IndexSpan, SeesTheItemsOfAVector) {
  IndexVector<Tier, int> items = {4, 5};
  const IndexSpan<Tier, int> writable = items;
  writable[Tier{1}] = 6;
  const IndexSpan<Tier, const int> readable = items;
  EXPECT_EQ(readable[Tier{1}], 6);
  EXPECT_EQ(readable.EndIndex(), Tier{2});
}

}  // namespace
}  // namespace weft
