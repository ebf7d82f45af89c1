#pragma once

#include <span>
#include <string>

#include "operator/base/result.h"
#include "operator/cluster/cluster.h"
#include "operator/outlook/accelerators.h"
#include "operator/predict/pace.h"
#include "operator/simulate/job_shape.h"

namespace weft::simulate {

// The first accelerator resource that the node offers; "" if it offers none.
std::string AcceleratorResourceOf(const fabric::Fabric& fabric, fabric::NodeIndex node);

// The accelerator of the nodes (predict::AcceleratorOf), or an H100 if it is unknown.
outlook::Accelerator AcceleratorOrAssumed(const fabric::Fabric& fabric, const std::string& resource,
                                          std::span<const fabric::NodeIndex> nodes);

// Predicts the pace of jobs (predict::PaceOf). A job without a prediction runs as long as its trace
// says wherever it is placed.
class Paces {
 public:
  explicit Paces(const cluster::ClusterFabric& on);

  predict::Pace Of(const Shape& shape, objective::Nodes nodes) const;
  // Errors  kInvalid if the job has no transformer.
  Result<double> TokensPerSecond(const Shape& shape, objective::Nodes nodes) const;
  const predict::Uplinks& uplinks() const { return uplinks_; }
  // A sentence if the nodes' accelerator is unknown and another is assumed; "" otherwise.
  const std::string& Note() const { return note_; }

 private:
  const cluster::ClusterFabric& on_;
  predict::Uplinks uplinks_;
  std::string note_;
};

}  // namespace weft::simulate
