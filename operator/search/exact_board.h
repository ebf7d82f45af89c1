#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/objective/instance.h"
#include "operator/search/symmetry.h"

namespace weft::search {

// Costs of the exact search, in units that divide every product of bytes and weight. With this unit
// nearly all jobs fit in 64 bits, which are several times as fast as 128.
struct CostUnit {
  std::int64_t bytes = 1, weight = 1;
  bool narrow = true;  // no cost passes 2^62 units

  Int128 size() const { return static_cast<Int128>(bytes) * weight; }
};

// The bytes between every two workers of a small job, row by row.
std::vector<std::int64_t> BytesBetween(const traffic::WorkerGraph& graph);

// The places of one home: nodes that may hold a worker, without those that are interchangeable with
// enough others. In the order of their names.
struct Places {
  Places(const objective::Instance& instance, const Symmetry& symmetry,
         std::vector<fabric::NodeIndex> representatives);

  std::size_t size() const { return nodes.size(); }
  std::int64_t WeightOf(std::size_t a, std::size_t b) const { return weight[a * size() + b]; }

  std::vector<fabric::NodeIndex> nodes;
  std::vector<std::uint32_t> slots;
  std::vector<std::int64_t> weight;  // place x place
  // Domains by tier x place, numbered from 0 within a tier, and how many a tier has.
  fabric::ByTier<std::vector<std::uint32_t>> domain;
  fabric::ByTier<std::uint32_t> domains;
  // By tier x place: places of one kind are interchangeable while this tier is the narrowest in
  // which their domain holds a worker of the job. Numbered from 0 over all tiers.
  fabric::ByTier<std::vector<std::uint32_t>> kind;
  std::uint32_t kinds = 0;
};

CostUnit CommonUnit(std::span<const std::int64_t> bytes, std::span<const Places> places);

// For each suffix of `order`, a lower bound of the cost between its workers, wherever they are: a
// domain with room for K workers keeps at most the K - 1 heaviest peers of each. In femtoseconds.
std::vector<Int128> CostWithin(const objective::Instance& instance,
                               std::span<const std::int64_t> bytes,
                               std::span<const WorkerIndex> order);

}  // namespace weft::search
