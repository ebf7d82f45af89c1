#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/base/random.h"
#include "operator/base/worker_index.h"
#include "operator/fabric/fabric.h"

namespace weft::report {

// How schedulers that know nothing of traffic choose nodes, for comparison. `slots`: the workers
// that each node has room for (rules::CountSlots). The result is the node of each worker, or
// nothing if not all fit.
using Nodes = ByWorker<fabric::NodeIndex>;

// Takes nodes by name, and fills each one before the next.
Nodes FirstFit(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
               std::uint32_t workers);

// Takes the narrowest level at which one domain has room for all workers, and the least roomy of
// these domains. If there is none, takes the fewest domains of the widest level: the roomiest
// first, and a last one with as little room as possible. Repeats this inside each chosen domain,
// down to the nodes. Workers go in index order to domains in order of label.
// Source  Kueue, "Topology Aware Scheduling", KEP-2724, profile BestFit.
Nodes FewestDomains(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                    std::uint32_t workers);

// Takes a random free slot for each worker; all slots are equally likely.
Nodes RandomFit(const fabric::ByNode<std::uint32_t>& slots, std::uint32_t workers,
                SplitMix64& random);

// Takes the nodes with room for the fewest workers first, and of these by name, so that whole nodes
// stay free.
// Source  Kubernetes, NodeResourcesFit, scoring strategy MostAllocated.
Nodes PackNodes(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                std::uint32_t workers);

// Takes the narrowest level at which one domain has room for all workers, and the least roomy of
// these domains; inside it, nodes by name.
// Source  Kubernetes, KEP-5732, topology-aware workload scheduling.
Nodes TightestDomain(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                     std::uint32_t workers);

// Cuts the job into segments of 16 workers, of 4 if it has fewer than 16 or no block has as many
// nodes, else of 1; each segment stays inside one block. A block is a scale-up domain of several
// nodes, else a domain of the narrowest level. Takes the least roomy block that holds all segments,
// else the roomiest blocks; inside a block, nodes by name.
// Source  Slurm, topology/block with --segment; SchedMD and NVIDIA, "Topology-Aware Scheduling with
//         Slurm", 2025: segments of 16, 4 and 1 nodes by the size of the job.
Nodes BlockSegments(const fabric::Fabric& fabric, const fabric::ByNode<std::uint32_t>& slots,
                    std::uint32_t workers);

}  // namespace weft::report
