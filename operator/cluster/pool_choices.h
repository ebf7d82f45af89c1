#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/accelerator.h"
#include "operator/api/topology_spec.h"
#include "operator/fabric/fabric.h"
#include "operator/placement/place.h"

namespace weft::cluster {

// How many TPU slices of several hosts a gang may use.
enum class Slices : std::uint8_t { kOne, kMany };

// kMany if a group of the topology has a required level: the job says itself which of its workers
// stay together (Kueue: podset-slice-required-topology).
Slices SlicesOf(const api::TopologySpec& topology);

// The choices of pools that a gang may use, by accelerator.models and accelerator.capacityTypes
// (operator/docs/api.md, "Products and capacity types"):
//
//   - a gang uses one product and one capacity type, unless a list contains "Any";
//   - a list is in order of preference; products matter more than capacity types;
//   - a gang stays in one TPU slice of several hosts (fabric::TpuSliceOf), or on nodes that are in
//     none, unless models contains "Any" or `slices` is kMany;
//   - without a list all products, or all types, are equal: the best placement decides.
//
// Pools that do not offer accelerator.resourceName are left out. Absent if the fabric has only one
// pool and the job has no list: all nodes are then allowed.
std::optional<std::vector<objective::PoolChoice>> PoolChoicesOf(const fabric::Fabric& fabric,
                                                                const api::Accelerator& accelerator,
                                                                Slices slices = Slices::kOne);

// Whether accelerator.models of a job may mean the product: by one of its words (fabric/pools.h),
// or by the accelerator that it stands for ("H100" and the instance type p5.48xlarge).
bool MatchesModel(const std::string& model, const std::string& product);

// Relaxations of the job's rules for products and capacity types, the smallest change first.
std::vector<objective::PoolRelaxation> PoolRelaxationsOf(const fabric::Fabric& fabric,
                                                         const api::Accelerator& accelerator,
                                                         Slices slices = Slices::kOne);

// The products of the pools that offer the resource, each once, by name; "" for nodes without one.
std::vector<std::string> ProductsOf(const fabric::Fabric& fabric, const std::string& resource);

// "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3 (Spot)", "A100 and H100"; the capacity type is
// named only if the fabric has several; nodes without a product are "unlabelled nodes".
std::string PoolsText(const fabric::Fabric& fabric, const std::vector<fabric::PoolIndex>& pools);

}  // namespace weft::cluster
