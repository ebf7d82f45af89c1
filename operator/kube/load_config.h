#pragma once

#include <string>

#include "operator/base/result.h"
#include "operator/kube/config.h"

namespace weft::kube {

// Which Config to load.
struct ConfigChoice {
  std::string kubeconfig;  // "": $KUBECONFIG, then ~/.kube/config, then the pod's account
  std::string context;     // "": the current context
};
// Loads the Config; reads files and the environment.
Result<Config> LoadConfig(const ConfigChoice& choice);

// The contents of a Source.
Result<std::string> Read(const Source& source);

}  // namespace weft::kube
