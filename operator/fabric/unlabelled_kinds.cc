#include "operator/fabric/unlabelled_kinds.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>

#include "operator/fabric/partition.h"
#include "operator/fabric/pools.h"
#include "operator/fabric/presets.h"
#include "operator/fabric/products.h"

namespace weft::fabric {
namespace {

std::string_view FirstAccelerator(const NodeFacts& node, std::span<const std::string> more) {
  for (const Resources* amounts : {&node.allocatable, &node.capacity}) {
    for (const auto& [name, amount] : *amounts) {
      if (amount > 0 && IsAcceleratorResource(name, more)) return name;
    }
  }
  return "";
}

// What a node may be recognised by; "" where it says nothing.
struct KindNames {
  std::string_view product, type, resource;
};

KindNames NamesOf(const NodeFacts& node, std::string_view product,
                  std::span<const std::string> more) {
  const std::string_view type = InstanceTypeOf(node);
  return {WholeProduct(product), IsPlaceholder(type) ? "" : type, FirstAccelerator(node, more)};
}

using Labelled = std::vector<bool>;  // by level

// The level from which on neither this nor any narrower one is labelled.
std::size_t DepthOf(const Labelled& kind) {
  std::size_t depth = kind.size();
  while (depth > 0 && !kind[depth - 1]) --depth;
  return depth;
}

// Which levels the nodes of some names are labelled with.
class LabelsByName {
 public:
  explicit LabelsByName(std::size_t levels) : none_(levels, false), any_(levels, false) {}

  void Add(const KindNames& names, std::size_t level) {
    any_[level] = true;
    Of({Sort::kProduct, names.product, ""})[level] = true;
    Of({Sort::kProductAndType, names.product, names.type})[level] = true;
    Of({Sort::kType, names.type, ""})[level] = true;
    Of({Sort::kResource, names.resource, ""})[level] = true;
  }

  LabelDepth DepthOfKind(const KindNames& names) const {
    if (!names.product.empty()) return DepthOfProduct(names);
    const bool typed = !names.type.empty();
    const std::string_view kind = typed ? names.type : names.resource;
    if (kind.empty()) return {"", none_.size()};
    return {std::string(kind), DepthOf(Find({typed ? Sort::kType : Sort::kResource, kind, ""}))};
  }

  // A label that no node at all has from `level` on is a mistake in the spec.
  bool AllFrom(std::size_t level) const {
    return std::find(any_.begin() + static_cast<std::ptrdiff_t>(level), any_.end(), false) ==
           any_.end();
  }

 private:
  enum class Sort : std::uint8_t { kProduct, kProductAndType, kType, kResource };
  using Key = std::tuple<Sort, std::string_view, std::string_view>;

  Labelled& Of(const Key& key) { return by_key_.try_emplace(key, none_).first->second; }

  const Labelled& Find(const Key& key) const {
    const auto known = by_key_.find(key);
    return known == by_key_.end() ? none_ : known->second;
  }

  // The machines of one type may lack what others with the same accelerators have, as instances
  // with one GPU outside the network of those with eight. Where no node of the product has more,
  // all its types are one kind. A node of the product without a type may be of any.
  LabelDepth DepthOfProduct(const KindNames& names) const {
    const std::size_t depth = DepthOf(Find({Sort::kProduct, names.product, ""}));
    LabelDepth all{std::string(names.product), depth};
    if (ProductOfInstanceType(names.type).empty()) return all;
    const std::size_t typed =
        std::max(DepthOf(Find({Sort::kProductAndType, names.product, names.type})),
                 DepthOf(Find({Sort::kProductAndType, names.product, ""})));
    if (typed == depth) return all;
    return {all.kind + " on " + std::string(names.type), typed};
  }

  const Labelled none_;
  Labelled any_;  // by level: whether a node of any kind has its label
  std::map<Key, Labelled> by_key_;
};

}  // namespace

std::vector<LabelDepth> LabelDepths(const std::vector<const NodeFacts*>& candidates,
                                    const FabricSpec& spec,
                                    const std::function<bool(std::size_t, std::size_t)>& has) {
  const std::size_t levels = spec.levels.size();
  bool all = true;
  for (std::size_t n = 0; n < candidates.size() && all; ++n) {
    for (std::size_t l = 0; l < levels; ++l) all = all && has(n, l);
  }
  if (all) return std::vector<LabelDepth>(candidates.size(), LabelDepth{"", levels});
  const std::vector<std::string> products = LabelledProducts(candidates, spec);
  LabelsByName labels(levels);
  std::vector<KindNames> names;
  for (std::size_t n = 0; n < candidates.size(); ++n) {
    names.push_back(NamesOf(*candidates[n], products[n], spec.accelerator_resources));
    for (std::size_t l = 0; l < levels; ++l) {
      if (has(n, l)) labels.Add(names[n], l);
    }
  }
  std::vector<LabelDepth> depths;
  for (const KindNames& one : names) {
    LabelDepth& of = depths.emplace_back(labels.DepthOfKind(one));
    if (!labels.AllFrom(of.depth)) of.depth = levels;
  }
  return depths;
}

void DropIncomplete(const std::vector<IncompleteNode>& incomplete,
                    std::vector<UnlabelledKind>& kinds) {
  for (UnlabelledKind& kind : kinds) {
    std::erase_if(kind.nodes, [&](const std::string& name) {
      return std::any_of(incomplete.begin(), incomplete.end(),
                         [&](const IncompleteNode& node) { return node.node == name; });
    });
  }
  std::erase_if(kinds, [](const UnlabelledKind& kind) { return kind.nodes.empty(); });
}

}  // namespace weft::fabric
