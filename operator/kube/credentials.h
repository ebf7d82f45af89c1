#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "operator/kube/config.h"

namespace weft::kube {

// Credentials of a connection and a request.
struct Identity {
  std::string certificate, key;  // PEM, "" without
  std::string token;             // bearer, "" without
};

// The current identity of a Config. Token files are read again once a minute, plug-ins run again
// when what they gave has expired, and both after Refused.
// Errors         kInvalid: a file or a plug-in that does not deliver, by name; never a secret.
// Thread-safety  all calls may run at once.
class Credentials {
 public:
  explicit Credentials(const Config& config) : config_(config) {}

  Result<Identity> Get();
  // The server answered 401: drops the cached credentials.
  void Refused();

 private:
  using Clock = std::chrono::steady_clock;

  Status Renew();

  const Config& config_;
  std::mutex mutex_;
  std::optional<Identity> identity_;
  Clock::time_point expires_;
};

// Runs the plug-in, without a shell, and reads the ExecCredential that it prints. `expires`: RFC
// 3339, "" never.
struct ExecAnswer {
  Identity identity;
  std::string expires;
};
Result<ExecAnswer> RunExecPlugin(const ExecPlugin& plugin);

}  // namespace weft::kube
