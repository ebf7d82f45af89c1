#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/world/api_server.h"

namespace weft::world {

// The chart's admission policies (charts/weft/templates/{operator,admission,gate}-policies.yaml,
// with kueue.enabled) as functions: the same requests are refused, in the same words. What the API
// server does not have here (ComputeDomains) is left out. policies_test.sh compares both with a
// real one.
//
// Thread-safety  none.
class Policies {
 public:
  // Whose namespaces and rights count; it outlives this.
  explicit Policies(const ApiServer& server) : server_(server) {}

  struct Denial {
    std::string policy;   // "weft-operator-gate"
    std::string message;  // of the first of its validations that fails
    std::string reason;   // "Invalid" or "Forbidden"
  };
  // One for each policy that denies the request. The API server tells any one of them.
  std::vector<Denial> DenialsOf(const ApiServer::Attempt& attempt) const;
  // The answer with the first of them; for ApiServer::SetValidation.
  std::optional<kube::Response> Validate(const ApiServer::Attempt& attempt) const;
  // Adds the scheduling gate to new pods; for ApiServer::SetAdmission.
  void AddGate(const ApiServer::Attempt& attempt) const;

 private:
  const ApiServer& server_;
};

}  // namespace weft::world
