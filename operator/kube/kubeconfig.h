#pragma once

#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/kube/config.h"

namespace weft::kube {

// One kubeconfig file: its name for messages, the folder that relative paths start from, its text.
struct KubeconfigText {
  std::string name, folder, text;
};

// The named or current context of several files, merged as in kubectl: the first file that defines
// a name wins.
//
// Errors  kInvalid with file and field: unknown contexts, clusters and users; auth-provider and
//         basic authentication (removed in Kubernetes 1.26); tls-server-name (this client cannot
//         verify it).
Result<Config> ParseKubeconfig(const std::vector<KubeconfigText>& files,
                               const std::string& context);

}  // namespace weft::kube
