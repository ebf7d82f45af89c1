#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operator/base/result.h"

namespace weft::service {

// What a probe says: "ok", or why not.
struct Health {
  bool well = true;
  std::string why;
};

// /healthz and /readyz over plain HTTP: 200 "ok", or 503 and the reason in words.
// Thread-safety  the functions are called from the library's threads, and must be quick.
class ProbeServer {
 public:
  virtual ~ProbeServer() = default;
};

struct Probes {
  std::function<Health()> live;   // the process makes progress
  std::function<Health()> ready;  // it does its work, or could at once
};

// Serves until destroyed. `address`: "127.0.0.1:8081", ":8081" for every address.
// Errors  kInvalid: no such address, or somebody else has it.
Result<std::unique_ptr<ProbeServer>> ServeProbes(const std::string& address, Probes probes);

}  // namespace weft::service
