#include "operator/service/probes.h"

#include <utility>

namespace weft::service {

HttpReply ReplyOf(const Health& health) {
  if (health.well) return {200, "ok\n"};
  return {503, health.why + "\n"};
}

void AddProbes(std::function<Health()> live, std::function<Health()> ready,
               HttpServerOptions& server) {
  server.quick["/healthz"] = [live = std::move(live)](const HttpRequest&) {
    return ReplyOf(live());
  };
  server.quick["/readyz"] = [ready = std::move(ready)](const HttpRequest&) {
    return ReplyOf(ready());
  };
}

}  // namespace weft::service
