#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/fabric/fabric.h"
#include "operator/outlook/spares.h"

namespace weft::report {

// What a file says of failures; `place` starts every message.
//
//   node: {failuresPer1000Days: 3.79, repairSeconds: 14400}
//   leaf: {failuresPer1000Days: 0.4, repairSeconds: 7200}   # of a whole domain of that level
//   shareWithoutNode: 0.75   # optional: of the node's failures, those after which the node is used
//                            # again at once; default: 0
//
// `levels`: those of the Fabrics. With several Fabrics a level counts in each that has it.
//
// Errors  kInvalid with the field's path: a level that no Fabric has, a missing or unknown field, a
//         rate outside its range, a node or domain that would be away all of the time.
struct LevelRate {
  std::string level;
  outlook::AwayRate rate;
};
struct FailureFile {
  std::string name;
  std::optional<outlook::AwayRate> node;
  std::vector<LevelRate> levels;
  double share_without_node = 0;
};
Result<FailureFile> DecodeFailureFile(const nlohmann::json& document, const std::string& place,
                                      const std::set<std::string>& levels);

// What is known of failures beside the Fabrics; each figure replaces theirs, and the others stay.
struct FailureSources {
  std::optional<double> per_1000_node_days = {};  // --failures
  std::optional<double> repair_seconds = {};      // --repair-seconds; of nodes
  std::optional<FailureFile> file = {};           // --failure-model
};

// The failures of one fabric's nodes and whole domains, each figure from the first that names it:
// the options, the file, spec.failureRates, and for nodes an assumption (outlook/failures.h).
struct FailureModel {
  outlook::AwayRate node;
  double share_without_node = 0;
  std::string from;               // of the node's rate: "--failures", "rates.yaml", "Fabric x"
  bool assumed = false;           // ... or nobody named one
  std::vector<LevelRate> levels;  // widest first
  std::string repair_from;        // of the node's time of repair, as `from`; "": assumed

  // With the failures only that take the node away.
  outlook::AwayRate Away() const;
  const outlook::AwayRate* Find(const std::string& level) const;
};
// Errors  kInvalid: a level of spec.failureRates that a preset does not have, or whose domains
//         cross the others; a node or domain that would be away all of the time.
Result<FailureModel> FailureModelOf(const fabric::Fabric& fabric, const FailureSources& sources);

}  // namespace weft::report
