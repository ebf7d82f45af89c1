#pragma once

#include <optional>
#include <span>
#include <vector>

#include "operator/cluster/cluster.h"
#include "operator/outlook/prices.h"

namespace weft::simulate {

// What a run used and what it cost.
struct Bill {
  double job_joules = 0;   // GPUs that jobs held, with their share of the servers
  double idle_joules = 0;  // all other GPUs, until the last job has ended
  // With a table of prices that knows every accelerator: of the GPUs that jobs held, and of all
  // GPUs until the last job has ended.
  struct Cost {
    double jobs = 0, fleet = 0;
  };
  std::optional<Cost> cost;
};

// Adds up energy and cost over a run.
//
//   power  a GPU that a job holds draws what training draws (outlook::PowerOf), from its start to
//          its end; any other GPU what an idle one draws, with its share of the server, whose other
//          parts count as drawing as much as during training: an assumption, and an upper bound
//   cost   hours x price of the node's accelerator and capacity type
//
// Both are of the whole time that a job holds its nodes, so work that is done twice counts twice.
// GPUs that earlier pods hold are left out. An unknown accelerator counts as the one that step
// times are predicted for (pace.h).
//
// Units  joules, without cooling; the currency of the prices.
// Cost   Add: O(workers); the constructor: O(nodes).
class Meter {
 public:
  // `prices`: null: no costs.
  Meter(const cluster::ClusterFabric& on, const outlook::Prices* prices);

  // A job held the nodes, with so many GPUs for each of its workers, for so long.
  void Add(std::span<const fabric::NodeIndex> nodes, std::uint32_t per_worker, double seconds);
  // The bill of a run that took `makespan` seconds.
  Bill Total(double makespan) const;

 private:
  struct Rates {  // of one GPU of a node
    double busy_watts = 0, idle_watts = 0, price_per_hour = 0;
  };
  fabric::ByNode<Rates> rates_;
  bool priced_ = false;
  double fleet_idle_watts_ = 0, fleet_price_per_hour_ = 0;
  double busy_joules_ = 0, not_idle_joules_ = 0, job_cost_ = 0;
};

}  // namespace weft::simulate
