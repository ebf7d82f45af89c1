#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/fabric/accelerator_spec.h"
#include "operator/fabric/failure_rate.h"

namespace weft::fabric {

// One GPU's share of a network, in one direction. link_types.h lists the known types.
struct LinkSpec {
  std::string type;                               // "" if only a bandwidth is given
  std::optional<std::int64_t> bandwidth_per_gpu;  // bytes/s, one direction; overrides the type
  std::int64_t oversubscription_percent = 100;    // at least 1
  std::optional<std::int64_t> latency_nanoseconds;

  friend bool operator==(const LinkSpec&, const LinkSpec&) = default;
};

// kValue: the label's value alone names the domain. kPath: one value under two parents names two
// domains; rack labels often repeat like this.
enum class Identity { kValue, kPath };

struct LevelSpec {
  std::string name;
  std::string label_key;
  Identity identity = Identity::kValue;
  std::optional<LinkSpec> link;  // absent: Assumed
  // The most that the running gangs of one domain may draw together; absent: no limit.
  std::optional<std::int64_t> power_watts = {};
  // A Cloud TPU slice of one host is a domain of its own, whatever its label says (presets.h).
  bool parts_tpu_slices = false;

  friend bool operator==(const LevelSpec&, const LevelSpec&) = default;
};

enum class ScaleUpRequires { kComputeDomain, kNothing };

struct ScaleUpSpec {
  std::string name = "nvlink";
  std::string label_key;
  std::optional<LinkSpec> link;
  ScaleUpRequires requires_claim = ScaleUpRequires::kNothing;

  friend bool operator==(const ScaleUpSpec&, const ScaleUpSpec&) = default;
};

struct TorusDimension {
  std::string label_key;   // its value is the node's place along it: 0, 1, ... size - 1
  std::uint32_t size = 1;  // in nodes
  bool wraps = true;       // whether the last node is linked to the first

  friend bool operator==(const TorusDimension&, const TorusDimension&) = default;
};

// Toruses of another shape than TorusSpec::dimensions.
struct TorusShapeSpec {
  std::vector<std::string> domains;  // names of domains of TorusSpec::level
  std::vector<std::uint32_t> sizes;  // by dimension
  std::vector<bool> wraps;           // by dimension; empty: as TorusSpec::dimensions

  friend bool operator==(const TorusShapeSpec&, const TorusShapeSpec&) = default;
};
// Most shapes, and most domains of one shape: an import of 65,536 toruses fits.
inline constexpr std::size_t kMostTorusShapes = 64, kMostDomainsOfShape = 1024;

// A torus or mesh of nodes beside the levels. Bytes pay for `link` once per hop.
struct TorusSpec {
  std::string name = "torus";
  std::vector<TorusDimension> dimensions;  // one to kTorusDimensions
  std::string level;                       // whose domains are toruses; "": one torus of all nodes
  std::optional<LinkSpec> link;
  std::vector<TorusShapeSpec> shapes = {};  // of the domains that they name; no domain is in two

  friend bool operator==(const TorusSpec&, const TorusSpec&) = default;
};

// A network beside the levels that divides the nodes, such as the second plane of a fabric with
// two: nodes with the same label value send each other bytes over its link where that is faster. A
// node without the label is not on it.
struct PlaneSpec {
  std::string name;
  std::string label_key;
  std::optional<LinkSpec> link;  // absent: Assumed

  friend bool operator==(const PlaneSpec&, const PlaneSpec&) = default;
};
// More have not been built: two rails-only planes and a storage network are three. The solver tries
// each of them.
inline constexpr std::size_t kMostPlanes = 4;

struct RailsSpec {
  int count = 0;
  std::vector<std::string> leaf_label_keys;  // one per rail

  friend bool operator==(const RailsSpec&, const RailsSpec&) = default;
};

// metav1.LabelSelector.
struct SelectorExpression {
  std::string key;
  std::string op;  // In, NotIn, Exists, DoesNotExist (nodes also Gt, Lt)
  std::vector<std::string> values;

  friend bool operator==(const SelectorExpression&, const SelectorExpression&) = default;
};
struct LabelSelector {
  std::map<std::string, std::string> match_labels;
  std::vector<SelectorExpression> match_expressions;

  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

struct TaintMatch {  // an empty value or effect matches any
  std::string key, value, effect;

  friend bool operator==(const TaintMatch&, const TaintMatch&) = default;
};
struct ConditionMatch {
  std::string type, status = "True";

  friend bool operator==(const ConditionMatch&, const ConditionMatch&) = default;
};
struct LabelMatch {  // an empty value matches any
  std::string key, value;

  friend bool operator==(const LabelMatch&, const LabelMatch&) = default;
};
struct UnusableRules {
  std::vector<TaintMatch> taints;
  std::vector<ConditionMatch> conditions;
  std::vector<LabelMatch> labels;
  bool known_signals = true;  // also those of health_signals.h

  friend bool operator==(const UnusableRules&, const UnusableRules&) = default;
};

// An environment variable of the workers. It replaces the value that Weft derives; an empty value
// removes the variable.
struct EnvironmentVariable {
  std::string name, value;

  friend bool operator==(const EnvironmentVariable&, const EnvironmentVariable&) = default;
};

// The network of the nodes: the spec of the kind Fabric (operator/docs/api.md). Levels are widest
// first.
struct FabricSpec {
  std::string name = "default";
  std::string preset;  // "" if levels are given
  std::optional<LabelSelector> node_selector;
  std::vector<LevelSpec> levels;
  std::optional<LinkSpec> outside;
  std::optional<ScaleUpSpec> scale_up;
  std::optional<TorusSpec> torus;
  std::vector<PlaneSpec> planes;
  std::optional<LinkSpec> node_link;
  std::optional<RailsSpec> rails;
  UnusableRules unusable;
  int cost_tolerance_percent = 1;
  std::string accelerator_model;  // the product of nodes without a product label
  // Resources that count as accelerators beside those that Weft knows by name (node_facts.h).
  std::vector<std::string> accelerator_resources = {};
  std::vector<AcceleratorSpec> accelerators;
  std::optional<PooledMemorySpec> pooled_memory;
  std::vector<EnvironmentVariable> environment;
  std::vector<FailureRateSpec> failure_rates = {};

  friend bool operator==(const FabricSpec&, const FabricSpec&) = default;
};

}  // namespace weft::fabric
