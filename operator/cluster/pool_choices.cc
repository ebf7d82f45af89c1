#include "operator/cluster/pool_choices.h"

#include <algorithm>
#include <set>

#include "operator/outlook/accelerators.h"

namespace weft::cluster {
namespace {

using fabric::Pool;
using fabric::PoolIndex;
using objective::PoolChoice;

// The alternatives of one rule (products or capacity types of a gang): sets of values with their
// ranks.
template <typename Value>
struct Alternative {
  std::set<Value> values;
  std::uint32_t rank = 0;
};

// The alternatives among the `known` values. If `wanted` is empty, each value is one; else each
// entry is the values that it matches, or all for "Any".
template <typename Value, typename Matches>
std::vector<Alternative<Value>> Alternatives(const std::set<Value>& known,
                                             const std::vector<std::string>& wanted,
                                             Matches matches) {
  std::vector<Alternative<Value>> all;
  if (wanted.empty()) {
    for (const Value& value : known) all.push_back({{value}, 0});
  }
  for (std::uint32_t rank = 0; rank < wanted.size(); ++rank) {
    if (wanted[rank] == api::kAnyPool) {
      all.push_back({known, rank});
      continue;
    }
    for (const Value& value : known) {
      if (matches(wanted[rank], value)) all.push_back({{value}, rank});
    }
  }
  return all;
}

constexpr const char* kAllSlices = "*";  // no name of a node pool

class Chooser {
 public:
  Chooser(const fabric::Fabric& fabric, const api::Accelerator& accelerator, Slices slices)
      : fabric_(fabric), accelerator_(accelerator), keep_to_(slices) {
    const auto resource = fabric.FindResource(accelerator.resource_name);
    for (PoolIndex p{0}; resource && p < fabric.pools().EndIndex(); ++p) {
      if (!fabric.PoolOffers(p, *resource)) continue;
      offering_.push_back(p);
      products_.insert(fabric.pools()[p].product);
      capacities_.insert(fabric.pools()[p].capacity);
      slices_.insert(fabric.pools()[p].slice);
    }
  }

  std::vector<PoolChoice> Run() const {
    const auto products = Alternatives(products_, accelerator_.models,
                                       [](const std::string& model, const std::string& product) {
                                         return MatchesModel(model, product);
                                       });
    const auto capacities = Alternatives(capacities_, accelerator_.capacity_types,
                                         [](const std::string& wanted, fabric::CapacityType type) {
                                           return wanted == fabric::CapacityTypeName(type);
                                         });
    const auto ranks = static_cast<std::uint32_t>(accelerator_.capacity_types.size()) + 1;
    std::vector<PoolChoice> choices;
    for (const auto& product : products) {
      for (const auto& capacity : capacities) {
        const std::uint32_t rank = product.rank * ranks + capacity.rank;
        for (const std::string& slice : SlicesAt(product.rank)) {
          Add(product.values, capacity.values, slice, rank, choices);
        }
      }
    }
    std::stable_sort(choices.begin(), choices.end(),
                     [](const auto& a, const auto& b) { return a.rank < b.rank; });
    return choices;
  }

  bool keeps_apart() const { return keep_to_ == Slices::kOne && slices_.size() > 1; }
  bool one_pool() const { return offering_.size() <= 1; }
  const std::set<std::string>& products() const { return products_; }
  bool several_capacities() const { return capacities_.size() > 1; }

 private:
  // What a gang keeps to: one slice, or the nodes that are in none, unless the entry of the list is
  // "Any".
  std::set<std::string> SlicesAt(std::uint32_t entry) const {
    const bool any = !accelerator_.models.empty() && accelerator_.models[entry] == api::kAnyPool;
    return any || keep_to_ == Slices::kMany ? std::set<std::string>{kAllSlices} : slices_;
  }

  void Add(const std::set<std::string>& products, const std::set<fabric::CapacityType>& capacities,
           const std::string& slice, std::uint32_t rank, std::vector<PoolChoice>& choices) const {
    PoolChoice choice;
    choice.rank = rank;
    for (PoolIndex p : offering_) {
      const Pool& pool = fabric_.pools()[p];
      const bool of_slice = slice == kAllSlices || slice == pool.slice;
      if (of_slice && products.contains(pool.product) && capacities.contains(pool.capacity)) {
        choice.pools.push_back(p);
      }
    }
    const bool known = std::any_of(choices.begin(), choices.end(), [&](const auto& other) {
      return other.pools == choice.pools && other.rank <= rank;
    });
    if (choice.pools.empty() || known) return;
    choice.name = PoolsText(fabric_, choice.pools);
    choices.push_back(std::move(choice));
  }

  const fabric::Fabric& fabric_;
  const api::Accelerator& accelerator_;
  Slices keep_to_;
  std::vector<PoolIndex> offering_;
  std::set<std::string> products_;
  std::set<fabric::CapacityType> capacities_;
  std::set<std::string> slices_;
};

bool NamesNothing(const api::Accelerator& accelerator) {
  return accelerator.models.empty() && accelerator.capacity_types.empty();
}

}  // namespace

bool MatchesModel(const std::string& model, const std::string& product) {
  if (fabric::MatchesProduct(model, product)) return true;
  const auto known = outlook::FindAccelerator(product);
  return known && fabric::MatchesProduct(model, known->name);
}

Slices SlicesOf(const api::TopologySpec& topology) {
  const auto binds = [](const api::GroupSpec& group) { return !group.required.empty(); };
  return std::any_of(topology.groups.begin(), topology.groups.end(), binds) ? Slices::kMany
                                                                            : Slices::kOne;
}

std::optional<std::vector<PoolChoice>> PoolChoicesOf(const fabric::Fabric& fabric,
                                                     const api::Accelerator& accelerator,
                                                     Slices slices) {
  const Chooser chooser(fabric, accelerator, slices);
  if (chooser.one_pool() && NamesNothing(accelerator)) return std::nullopt;
  return chooser.Run();
}

std::vector<objective::PoolRelaxation> PoolRelaxationsOf(const fabric::Fabric& fabric,
                                                         const api::Accelerator& accelerator,
                                                         Slices slices) {
  const Chooser as_asked(fabric, accelerator, slices);
  std::vector<objective::PoolRelaxation> relaxations;
  api::Accelerator relaxed = accelerator;
  if (!accelerator.models.empty()) {
    relaxed.models.clear();
    relaxations.push_back(
        {"accelerator.models", "removed", Chooser(fabric, relaxed, slices).Run()});
  }
  if (!accelerator.capacity_types.empty()) {
    relaxed = accelerator;
    relaxed.capacity_types.clear();
    relaxations.push_back(
        {"accelerator.capacityTypes", "removed", Chooser(fabric, relaxed, slices).Run()});
  }
  if (as_asked.several_capacities()) {
    relaxed = accelerator;
    relaxed.capacity_types = {api::kAnyPool};
    relaxations.push_back({"accelerator.capacityTypes", "[Any], which mixes capacity types",
                           Chooser(fabric, relaxed, slices).Run()});
  }
  const bool mixes = as_asked.products().size() > 1, crosses = as_asked.keeps_apart();
  if (mixes || crosses) {
    relaxed = accelerator;
    relaxed.models = {api::kAnyPool};
    relaxations.push_back({"accelerator.models",
                           std::string("[Any], which ") + (mixes ? "mixes products" : "") +
                               (mixes && crosses ? " and " : "") +
                               (crosses ? "crosses TPU slices" : ""),
                           Chooser(fabric, relaxed, slices).Run()});
  }
  return relaxations;
}

std::vector<std::string> ProductsOf(const fabric::Fabric& fabric, const std::string& resource) {
  api::Accelerator any;
  any.resource_name = resource;
  const Chooser chooser(fabric, any, Slices::kOne);
  return {chooser.products().begin(), chooser.products().end()};
}

std::string PoolsText(const fabric::Fabric& fabric, const std::vector<PoolIndex>& pools) {
  std::set<fabric::CapacityType> known, used;
  for (const Pool& pool : fabric.pools()) known.insert(pool.capacity);
  std::set<std::string> products;
  for (PoolIndex p : pools) {
    const Pool& pool = fabric.pools()[p];
    products.insert(pool.product.empty() ? "unlabelled nodes" : pool.product);
    used.insert(pool.capacity);
  }
  std::string text;
  for (const std::string& product : products) text += (text.empty() ? "" : " and ") + product;
  std::set<std::string> slices;
  for (PoolIndex p : pools) slices.insert(fabric.pools()[p].slice);
  if (slices.size() == 1 && !slices.begin()->empty()) text += " of slice " + *slices.begin();
  if (known.size() == 1) return text;
  std::string types;
  for (fabric::CapacityType type : used) {
    types += (types.empty() ? "" : " and ") + std::string(fabric::CapacityTypeName(type));
  }
  return text + " (" + types + ")";
}

}  // namespace weft::cluster
