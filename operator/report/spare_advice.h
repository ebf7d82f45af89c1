#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/meta.h"
#include "operator/outlook/failures.h"
#include "operator/report/failure_model.h"

namespace weft::report {

// The loss of one whole domain: all its nodes at once.
struct DomainLoss {
  std::string level;
  std::int64_t nodes = 0;  // of its largest domain
  bool covered = false;    // `best` spares elsewhere are as many
  // The share of the time that one of the domains is away, and whether so many more spares gain
  // more than they cost; absent without a rate of the level.
  std::optional<double> away;
  bool pays = false;
};

// Spares that are kept for each domain of one level: any of them can replace any node of its
// domain. The figures of a domain are those of the largest.
struct SpareLevel {
  std::string level;
  std::int64_t domains = 0, nodes = 0;  // nodes of the largest domain, with those that are away
  double rho = 0;                       // nodes that are away at a time, on average
  std::int64_t p99 = 0;                 // more are away at most 1 % of the time
  std::int64_t best = 0;                // outlook::BestSpares
  std::int64_t total = 0;               // best of each domain, together
  double idle_share = 0;                // of the nodes and these spares
  // The share of the time in which a job on all nodes waits for one: without, with the best.
  double waits_without = 0, waits_with = 0;
  double goodput_without = 0, goodput_with = 0;  // outlook::Goodput
  outlook::Reliability reliability;              // of a job on all nodes
  std::vector<DomainLoss> losses;                // of narrower levels, widest first
  std::vector<std::string> required;             // jobs that need a replacement in the same domain
};

// Nodes of one Fabric and one product.
struct SparePool {
  std::string fabric, accelerator;  // accelerator: "" if labels name none
  std::int64_t nodes = 0;
  std::int64_t unusable = 0;       // of these, now
  std::int64_t spot = 0;           // of these; their interruptions are not counted
  std::vector<SpareLevel> levels;  // widest first: the whole fabric is "outside"
};

struct SpareJob {
  std::string job, fabric;
  std::int64_t nodes = 0;  // that it has, else that its workers fill
  bool held = false;       // it has them
  // A replacement must be in the same domain of the narrowest level that topology.required names,
  // of the job or of one of its groups; "outside": anywhere.
  std::string level;
  std::int64_t domains = 0;  // of that level, that the job is on
  // Of its nodes in the domain that has the most; the job stands still if one domain lacks a spare.
  double rho = 0;
  std::int64_t p99 = 0, best = 0;
  outlook::Reliability reliability;
  std::int64_t total = 0;  // best of each domain, together
};

// A job of the input that is left out, because its spec contradicts the fabric, no Fabric is chosen
// for it, or no node has what its workers ask for.
struct RefusedJob {
  api::Place place;
  std::string message;   // starts with the place
  bool invalid = false;  // its spec is wrong
};

struct FabricFailures {
  std::string fabric;
  FailureModel model;
};

struct SpareAdvice {
  std::vector<FabricFailures> failures;  // by Fabric, in the order of the input
  std::vector<SparePool> pools;          // by Fabric, then accelerator
  std::vector<SpareJob> jobs;            // unfinished ones, in the order of the input
  std::vector<RefusedJob> refused;
  outlook::FailureRates rates;  // what a checkpoint and a restart take
};

}  // namespace weft::report
