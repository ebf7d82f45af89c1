#pragma once

#include <cstdint>
#include <optional>
#include <span>
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
//   - without a list all products, or all types, are equal: the best placement decides;
//   - parts of accelerators (fabric/partition.h) are not mixed with whole ones or with parts of
//     another size, also by "Any". Unless an entry names them they come after all whole ones, and
//     not at all for an entry that matches whole ones of the fabric.
//
// Pools that do not offer accelerator.resourceName are left out. Absent if the fabric has only one
// pool and the job has no list: all nodes are then allowed.
std::optional<std::vector<objective::PoolChoice>> PoolChoicesOf(const fabric::Fabric& fabric,
                                                                const api::Accelerator& accelerator,
                                                                Slices slices = Slices::kOne);

// Whether an entry of accelerator.models means the product: by its words (fabric/products.h), by
// the instance type that the product is ("H100" and p5.48xlarge), or because both stand for one
// accelerator of Weft's table or of `added` ("NVIDIA-H100-80GB-HBM3" and H100_NVLINK_80GB).
bool MatchesModel(const std::string& model, const std::string& product,
                  std::span<const fabric::AcceleratorSpec> added = {});

// Relaxations of the job's rules for products and capacity types, the smallest change first.
std::vector<objective::PoolRelaxation> PoolRelaxationsOf(const fabric::Fabric& fabric,
                                                         const api::Accelerator& accelerator,
                                                         Slices slices = Slices::kOne);

// The products of the pools that offer the resource, each once, by name; "" for nodes without one.
std::vector<std::string> ProductsOf(const fabric::Fabric& fabric, const std::string& resource);

// "NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-80GB-HBM3 (Spot)", "A100 and H100"; the capacity type is
// named only if the fabric has several; nodes without a product are "unlabelled nodes". Of slices
// "tpu-v5p-slice in 12 slices", or, of a gang that keeps to one, "in one of 12 slices". Parts of
// accelerators are named for `resource`.
std::string PoolsText(const fabric::Fabric& fabric, const std::vector<fabric::PoolIndex>& pools,
                      const std::string& resource, bool in_one = false);

}  // namespace weft::cluster
