#pragma once

#include <memory>

#include "operator/api/inputs.h"
#include "operator/base/result.h"
#include "operator/cli/cluster_source.h"
#include "operator/cluster/cluster.h"
#include "operator/kube/load_config.h"

namespace weft::cli {

// A cluster that is watched as the operator watches it, without writing to it.
class LiveView {
 public:
  virtual ~LiveView() = default;
  // The objects as they are now.
  virtual api::Inputs TakeSnapshot() = 0;
  virtual cluster::Cluster SnapshotCluster() = 0;
};

// Returns when all objects are read, those of `kinds`.
// Errors  of the kubeconfig; kTransient with the server's last answer if reading takes over a
//         minute.
Result<std::shared_ptr<LiveView>> OpenLiveView(const kube::ConfigChoice& choice, Kinds kinds);

}  // namespace weft::cli
