#pragma once

#include <chrono>
#include <map>
#include <string>
#include <thread>
#include <utility>

#include "operator/kube/transport.h"

namespace weft::testing {

// An API server whose every list is what the test says; after it, nothing happens.
class ScriptedCluster final : public kube::Transport {
 public:
  // `objects`: the JSON of the listed objects by the last part of the path, such as "trainingjobs".
  explicit ScriptedCluster(std::multimap<std::string, std::string> objects)
      : objects_(std::move(objects)) {}

  Result<kube::Response> Send(const kube::Request&) override { return NoAnswer(); }
  Result<kube::Response> Stream(const kube::Request& request, const kube::ChunkSink& sink,
                                const kube::Cancel& cancel) override {
    if (request.query.contains("sendInitialEvents")) {
      const std::string resource = request.path.substr(request.path.rfind('/') + 1);
      const auto [begin, end] = objects_.equal_range(resource);
      for (auto it = begin; it != end; ++it) {
        sink(R"({"type":"ADDED","object":)" + it->second + "}\n");
      }
      sink(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9","annotations":)"
           R"({"k8s.io/initial-events-end":"true"}}}})"
           "\n");
    }
    while (!cancel) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return NoAnswer();
  }

 private:
  static Error NoAnswer() { return {ErrorKind::kTransient, "connection refused"}; }
  const std::multimap<std::string, std::string> objects_;
};

}  // namespace weft::testing
