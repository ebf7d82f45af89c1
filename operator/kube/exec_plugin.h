#pragma once

#include <string>

#include "operator/base/result.h"
#include "operator/kube/config.h"
#include "operator/kube/identity.h"

namespace weft::kube {

// Runs the plug-in without a shell and reads the ExecCredential that it prints. `expires`: RFC
// 3339; "": never.
struct ExecAnswer {
  Identity identity;
  std::string expires;
};
Result<ExecAnswer> RunExecPlugin(const ExecPlugin& plugin);

}  // namespace weft::kube
