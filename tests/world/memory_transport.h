#pragma once

#include <string>

#include "operator/kube/transport.h"
#include "tests/world/api_server.h"

namespace weft::world {

// The requests of one user to an API server in memory. A stream gives what there is and ends.
class MemoryTransport final : public kube::Transport {
 public:
  MemoryTransport(ApiServer& server, std::string user);
  Result<kube::Response> Send(const kube::Request& request) override;
  Result<kube::Response> Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                const kube::Cancel& cancel) override;

 private:
  ApiServer& server_;
  const std::string user_;
};

}  // namespace weft::world
