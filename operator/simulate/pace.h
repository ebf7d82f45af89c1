#pragma once

#include <span>
#include <string>

#include "operator/base/result.h"
#include "operator/decide/cluster.h"
#include "operator/decide/pace.h"
#include "operator/outlook/accelerators.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

// The accelerator of the nodes (decide::AcceleratorOf), or an H100 if it is unknown.
outlook::Accelerator AcceleratorOrAssumed(const fabric::Fabric& fabric,
                                          std::span<const fabric::NodeIndex> nodes);

// Predicts the pace of jobs (decide::PaceOf). A job without a prediction runs as long as its trace
// says wherever it is placed.
class Paces {
 public:
  explicit Paces(const decide::ClusterFabric& on);

  decide::Pace Of(const Shape& shape, std::span<const fabric::NodeIndex> nodes) const;
  // Errors  kInvalid if the job has no transformer.
  Result<double> TokensPerSecond(const Shape& shape,
                                 std::span<const fabric::NodeIndex> nodes) const;
  const decide::Uplinks& uplinks() const { return uplinks_; }
  // A sentence if the nodes' accelerator is unknown and another is assumed; "" otherwise.
  const std::string& Note() const { return note_; }

 private:
  const decide::ClusterFabric& on_;
  decide::Uplinks uplinks_;
  std::string note_;
};

}  // namespace weft::simulate
