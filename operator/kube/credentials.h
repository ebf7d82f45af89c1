#pragma once

#include <chrono>
#include <mutex>
#include <optional>

#include "operator/base/result.h"
#include "operator/kube/config.h"
#include "operator/kube/identity.h"

namespace weft::kube {

// The current identity of a Config. Token files are read again once a minute; plug-ins run again
// when their credentials have expired; after Refused, both happen with the next Get.
// Errors         kInvalid: a file or plug-in that gives no credentials. Messages name it but never
//                a secret.
// Thread-safety  all calls may run at once.
class Credentials {
 public:
  explicit Credentials(const Config& config) : config_(config) {}

  Result<Identity> Get();
  // Drops the cached credentials; to be called after an answer of 401.
  void Refused();

 private:
  using Clock = std::chrono::steady_clock;

  Status Renew();

  const Config& config_;
  std::mutex mutex_;
  std::optional<Identity> identity_;
  Clock::time_point expires_;
};

}  // namespace weft::kube
