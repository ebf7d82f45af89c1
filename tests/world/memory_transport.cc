#include "tests/world/memory_transport.h"

#include <utility>

namespace weft::world {

MemoryTransport::MemoryTransport(ApiServer& server, std::string user)
    : server_(server), user_(std::move(user)) {}

Result<kube::Response> MemoryTransport::Send(const kube::Request& request) {
  return server_.Handle(request, user_);
}

Result<kube::Response> MemoryTransport::Stream(const kube::Request& request,
                                               const kube::ChunkSink& sink, const kube::Cancel&) {
  ApiServer::Opened opened = server_.Open(request, user_);
  if (!opened.stream) return opened.refusal;
  const std::string frames = opened.stream->Take(server_.version());
  if (!frames.empty()) sink(frames);
  return kube::Response{200, std::nullopt, ""};
}

}  // namespace weft::world
