#include "operator/http/probes.h"

#include <utility>

namespace weft::http {

Reply ReplyOf(const Health& health) {
  if (health.well) return {200, "ok\n"};
  return {503, health.why + "\n"};
}

void AddProbes(std::function<Health()> live, std::function<Health()> ready, ServerOptions& server) {
  server.quick["/healthz"] = [live = std::move(live)](const Request&) { return ReplyOf(live()); };
  server.quick["/readyz"] = [ready = std::move(ready)](const Request&) { return ReplyOf(ready()); };
}

}  // namespace weft::http
