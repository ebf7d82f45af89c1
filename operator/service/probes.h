#pragma once

#include <functional>
#include <string>

#include "operator/service/http_server.h"

namespace weft::service {

// Answer of a probe: "ok", or the reason why not.
struct Health {
  bool well = true;
  std::string why;
};

// 200 "ok", or 503 and the reason in words.
HttpReply ReplyOf(const Health& health);

// /healthz (the process makes progress) and /readyz (it does its work, or could at once), which
// must both be quick.
void AddProbes(std::function<Health()> live, std::function<Health()> ready,
               HttpServerOptions& server);

}  // namespace weft::service
