#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/fabric/fabric.h"
#include "operator/objective/nodes.h"

namespace weft::objective {

// The domains that the workers of one job use, as dense ids. A seat is the id of a used domain at
// one tier. Seats are numbered in the order of the least worker in each domain.
//
// Cost  O(workers x tiers) time and memory, whatever the size of the fabric.
class Seating {
 public:
  Seating(const fabric::Fabric& fabric, Nodes nodes);

  fabric::Tier node_tier() const { return tiers_ - 1; }
  std::uint32_t workers() const { return static_cast<std::uint32_t>(nodes_.size()); }
  fabric::NodeIndex node(WorkerIndex worker) const { return nodes_[worker]; }
  // Domains in use at a tier, by seat.
  std::span<const fabric::DomainIndex> domains(fabric::Tier tier) const { return domains_[tier]; }
  std::uint32_t seat(WorkerIndex worker, fabric::Tier tier) const {
    return seats_[std::size_t{worker.Raw()} * tiers_.Raw() + tier.Raw()];
  }

 private:
  void SeatNodes();
  void SeatDomains(fabric::Tier tier, const fabric::TierDomains& domains);

  Nodes nodes_;
  fabric::Tier tiers_;                // number of tiers; the last are the nodes
  std::vector<std::uint32_t> seats_;  // worker-major
  fabric::ByTier<std::vector<fabric::DomainIndex>> domains_;
};

// Number of different values.
std::uint32_t CountDistinct(std::vector<fabric::DomainIndex> values);

}  // namespace weft::objective
