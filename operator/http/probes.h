#pragma once

#include <functional>
#include <string>

#include "operator/http/server.h"

namespace weft::http {

// The result of a probe: ok, or the reason why not.
struct Health {
  bool well = true;
  std::string why;
};

// 200 "ok", or 503 with the reason as text.
Reply ReplyOf(const Health& health);

// Adds /healthz (the process makes progress) and /readyz (it does its work, or could start at
// once). Both functions must be quick.
void AddProbes(std::function<Health()> live, std::function<Health()> ready, ServerOptions& server);

}  // namespace weft::http
