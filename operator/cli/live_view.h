#pragma once

#include <memory>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/decide/cluster.h"
#include "operator/kube/config.h"

namespace weft::cli {

// A cluster that is followed by watches, as the operator follows it; nothing is written to it.
class LiveView {
 public:
  virtual ~LiveView() = default;
  // The objects as they are now.
  virtual api::Inputs Look() = 0;
  virtual decide::Cluster LookAtCluster() = 0;
};

// Returns once everything was read.
// Errors  those of the kubeconfig; kTransient with the server's last answer where a minute does not
//         suffice.
Result<std::shared_ptr<LiveView>> OpenLiveView(const kube::ConfigChoice& choice);

}  // namespace weft::cli
