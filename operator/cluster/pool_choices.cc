#include "operator/cluster/pool_choices.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/fabric/partition.h"
#include "operator/fabric/products.h"
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

// What the accelerators of a pool are.
struct Kind {
  std::string product, partition;

  friend auto operator<=>(const Kind&, const Kind&) = default;
};

// As the job's list may name it: "nvidia-tesla-a100 MIG 1g.5gb".
std::string NameOf(const Kind& kind) {
  return kind.partition.empty() ? kind.product : kind.product + " " + kind.partition;
}

class Chooser {
 public:
  Chooser(const fabric::Fabric& fabric, const api::Accelerator& accelerator, Slices slices)
      : fabric_(fabric), accelerator_(accelerator), keep_to_(slices) {
    const auto resource = fabric.FindResource(accelerator.resource_name);
    for (PoolIndex p{0}; resource && p < fabric.pools().EndIndex(); ++p) {
      if (!fabric.PoolOffers(p, *resource)) continue;
      const Pool& pool = fabric.pools()[p];
      offering_.push_back(p);
      kinds_.insert(KindOf(pool));
      products_.insert(pool.product);
      capacities_.insert(pool.capacity);
      slices_.insert(pool.slice);
    }
  }

  std::vector<PoolChoice> Run() const {
    const auto capacities = Alternatives(capacities_, accelerator_.capacity_types,
                                         [](const std::string& wanted, fabric::CapacityType type) {
                                           return wanted == fabric::CapacityTypeName(type);
                                         });
    const auto ranks = static_cast<std::uint32_t>(accelerator_.capacity_types.size()) + 1;
    std::vector<PoolChoice> choices;
    // The same pools, together or one of them, are two choices: [v5p, Any] of TPU slices ends with
    // all of them together, which the first entry does not allow.
    std::map<std::pair<bool, std::vector<PoolIndex>>, std::uint32_t> ranks_of;
    for (const auto& kind : KindAlternatives()) {
      for (const auto& capacity : capacities) {
        const std::uint32_t rank = kind.rank * ranks + capacity.rank;
        auto [together, slices] = PoolsOf(kind, capacity.values);
        for (const bool one_pool : {false, true}) {
          std::vector<PoolIndex>& pools = one_pool ? slices : together;
          if (pools.empty()) continue;
          const auto [known, is_new] = ranks_of.try_emplace({one_pool, pools}, rank);
          if (!is_new && known->second <= rank) continue;
          known->second = rank;
          choices.push_back({PoolsText(fabric_, pools, accelerator_.resource_name, one_pool),
                             std::move(pools), rank, one_pool});
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
  // "Any" mixes whole accelerators of all products, never with parts of accelerators or parts of
  // different size. Parts that the list does not name come after all whole ones.
  std::vector<Alternative<Kind>> KindAlternatives() const {
    std::vector<Alternative<Kind>> all;
    for (auto& one : Alternatives(kinds_, accelerator_.models,
                                  [this](const std::string&model, const Kind&kind) {
                                    return Matches(model, NameOf(kind));
                                  })) {
      std::map<std::string, std::set<Kind>> by_partition;
      for (const Kind& kind : one.values) by_partition[kind.partition].insert(kind);
      for (auto& [partition, kinds] : by_partition) {
        const bool last = !partition.empty() && !Names(one.rank, *kinds.begin());
        if (last && HasWhole(one.rank)) continue;
        all.push_back({std::move(kinds), last ? one.rank + kLast : one.rank});
      }
    }
    return all;
  }

  // Whether the entry of the list names whole accelerators that the fabric has: then the job wants
  // these, and waits for them.
  bool HasWhole(std::uint32_t entry) const {
    if (accelerator_.models.empty() || accelerator_.models[entry] == api::kAnyPool) return false;
    return std::any_of(kinds_.begin(), kinds_.end(), [&](const Kind& kind) {
      return kind.partition.empty() && Matches(accelerator_.models[entry], NameOf(kind));
    });
  }

  // Whether the entry of the list matches the part and would not match the whole accelerator.
  bool Names(std::uint32_t entry, const Kind& kind) const {
    if (accelerator_.models.empty()) return false;
    const std::string& model = accelerator_.models[entry];
    return model != api::kAnyPool &&
           !Matches(model, std::string(fabric::WholeProduct(kind.product)));
  }

  Kind KindOf(const Pool& pool) const {
    return {pool.product, std::string(pool.PartOf(accelerator_.resource_name))};
  }

  bool Matches(const std::string& model, const std::string& product) const {
    return MatchesModel(model, product, fabric_.spec().accelerators);
  }

  // The pools that a gang may use together, and those of which it keeps to one: slices, unless the
  // entry of the list is "Any".
  std::pair<std::vector<PoolIndex>, std::vector<PoolIndex>> PoolsOf(
      const Alternative<Kind>& kind, const std::set<fabric::CapacityType>& capacities) const {
    const bool any =
        !accelerator_.models.empty() && accelerator_.models[kind.rank % kLast] == api::kAnyPool;
    const bool crosses = any || keep_to_ == Slices::kMany;
    std::vector<PoolIndex> together, slices;
    for (PoolIndex p : offering_) {
      const Pool& pool = fabric_.pools()[p];
      if (!kind.values.contains(KindOf(pool))) continue;
      if (!capacities.contains(pool.capacity)) continue;
      (crosses || pool.slice.empty() ? together : slices).push_back(p);
    }
    return {std::move(together), std::move(slices)};
  }

  // More than the entries of a list.
  static constexpr std::uint32_t kLast = 1U << 16;

  const fabric::Fabric& fabric_;
  const api::Accelerator& accelerator_;
  Slices keep_to_;
  std::vector<PoolIndex> offering_;
  std::set<Kind> kinds_;
  std::set<std::string> products_;
  std::set<fabric::CapacityType> capacities_;
  std::set<std::string> slices_;
};

// "24q" of NVIDIA-L40S-24Q.
bool IsVirtualProfile(const std::string& word) {
  const std::size_t digits = word.find_first_not_of("0123456789");
  return digits > 0 && digits + 1 == word.size() &&
         std::string_view("abcq").find(word.back()) != std::string_view::npos;
}

// Whether the product also comes in a socket. The names of others need not say that they are cards.
bool ComesInSocket(const std::string& product) {
  static constexpr auto kFamilies = std::to_array<std::string_view>(
      {"p100", "v100", "a100", "a800", "h100", "h800", "h200", "h20", "mi210", "mi350p"});
  const std::vector<std::string> words = fabric::WordsOf(product);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kFamilies.begin(), kFamilies.end(), word) != kFamilies.end();
  });
}

// The model without what a card's name need not say, as "L4 24gb" of L4-PCIe-24GB.
std::string WithoutForm(const std::string& model) {
  std::string text;
  for (const std::string& word : fabric::WordsOf(model)) {
    if (word != "pcie") text += (text.empty() ? "" : " ") + word;
  }
  return text.empty() ? model : text;
}

// Whether the model names a size, a form or a part that the product's name does not have. Products
// in an SXM socket need not say so.
bool NamesMore(const std::string& model, const std::string& product) {
  const std::vector<std::string> words = fabric::WordsOf(product);
  const auto has = [&](auto is) { return std::any_of(words.begin(), words.end(), is); };
  const bool sized = has([](const std::string& word) { return word.ends_with("gb"); });
  const bool card = has([](const auto& word) { return word == "pcie" || word == "nvl"; });
  for (const std::string& word : fabric::WordsOf(model)) {
    if (std::find(words.begin(), words.end(), word) != words.end()) continue;
    if (word == "shared" || word == "mig" || IsVirtualProfile(word)) return true;
    if (word == "pcie" || word == "nvl" || word == "d") return true;
    if ((sized && word.ends_with("gb")) || (card && word.starts_with("sxm"))) return true;
  }
  return false;
}

bool NamesNothing(const api::Accelerator& accelerator) {
  return accelerator.models.empty() && accelerator.capacity_types.empty();
}

}  // namespace

bool MatchesModel(const std::string& as_written, const std::string& product,
                  std::span<const fabric::AcceleratorSpec> added) {
  const std::string model = ComesInSocket(product) ? as_written : WithoutForm(as_written);
  if (fabric::MatchesProduct(model, product)) return true;
  const auto by_type = fabric::ProductOfInstanceType(product);
  if (!by_type.empty() && fabric::MatchesProduct(model, by_type)) return true;
  const auto has = outlook::FindAccelerator(product, added);
  if (!has) return false;
  if (fabric::MatchesProduct(model, has->name)) return true;
  const auto wanted = outlook::FindAccelerator(model, added);
  return wanted && wanted->name == has->name && !NamesMore(model, product);
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
  if (!accelerator.capacity_types.empty()) {
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
  if (!accelerator.models.empty()) {
    relaxed = accelerator;
    relaxed.models.clear();
    relaxations.push_back(
        {"accelerator.models", "removed", Chooser(fabric, relaxed, slices).Run()});
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

namespace {

// " of slice a", " in 12 slices", " in one of 12 slices"; "" unless all pools are slices.
std::string SlicesText(const fabric::Fabric& fabric, const std::vector<PoolIndex>& pools,
                       bool in_one) {
  std::set<std::string_view> slices;
  for (PoolIndex p : pools) slices.insert(fabric.pools()[p].slice);
  if (slices.empty() || slices.contains("")) return "";
  if (slices.size() == 1) return " of slice " + std::string(*slices.begin());
  return (in_one ? " in one of " : " in ") +
         CountText(static_cast<std::int64_t>(slices.size()), "slice");
}

// "NVIDIA-L40S as time slice 1/4".
std::string ProductText(const Pool& pool, const std::string& resource) {
  const std::string product = pool.product.empty() ? "unlabelled nodes" : pool.product;
  if (product.find("-MIG-") != product.npos) return product;
  std::string part(pool.PartOf(resource));
  if (part.empty()) part = fabric::PartByName(resource);
  return part.empty() ? product : product + " as " + part;
}

}  // namespace

std::string PoolsText(const fabric::Fabric& fabric, const std::vector<PoolIndex>& pools,
                      const std::string& resource, bool in_one) {
  std::set<fabric::CapacityType> known, used;
  for (const Pool& pool : fabric.pools()) known.insert(pool.capacity);
  std::set<std::string> products;
  for (PoolIndex p : pools) {
    products.insert(ProductText(fabric.pools()[p], resource));
    used.insert(fabric.pools()[p].capacity);
  }
  std::string text;
  for (const std::string& product : products) text += (text.empty() ? "" : " and ") + product;
  text += SlicesText(fabric, pools, in_one);
  if (known.size() == 1) return text;
  std::string types;
  for (fabric::CapacityType type : used) {
    types += (types.empty() ? "" : " and ") + std::string(fabric::CapacityTypeName(type));
  }
  return text + " (" + types + ")";
}

}  // namespace weft::cluster
