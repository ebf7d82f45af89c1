#pragma once

#include <cstdint>
#include <string>

#include "tests/world/api_server.h"

namespace weft::world {

// kube-controller-manager's controller podgroup-protection: takes its finalizer off PodGroups that
// are being deleted and that no unfinished pod names. It sees the server's present state at once.
class GroupProtection {
 public:
  explicit GroupProtection(ApiServer& server,
                           std::string user = "system:podgroup-protection-controller");

  // Without the feature gate it does nothing.
  void SetGate(bool on);
  // At most one write; false if there was nothing to do.
  bool Step();

 private:
  bool IsUsed(const api::ObjectKey& group) const;

  ApiServer& server_;
  const std::string user_;
  bool on_ = true;
  std::uint64_t idle_at_ = 0;  // nothing to do at this version
};

}  // namespace weft::world
