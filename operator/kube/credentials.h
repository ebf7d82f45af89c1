#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "operator/kube/config.h"

namespace weft::kube {

// Credentials for a connection and its requests.
struct Identity {
  std::string certificate, key;  // PEM; "" if none
  std::string token;             // bearer token; "" if none
};

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

// Runs the plug-in without a shell and reads the ExecCredential that it prints. `expires`: RFC
// 3339; "": never.
struct ExecAnswer {
  Identity identity;
  std::string expires;
};
Result<ExecAnswer> RunExecPlugin(const ExecPlugin& plugin);

}  // namespace weft::kube
