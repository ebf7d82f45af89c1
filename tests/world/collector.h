#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>

#include "tests/world/api_server.h"

namespace weft::world {

// kube-controller-manager's garbage collector: deletes objects whose owners are all gone, removes
// owners that are gone, and carries out foreground and orphan deletion. It sees the server's
// present state at once and writes through its requests.
class GarbageCollector {
 public:
  explicit GarbageCollector(ApiServer& server, std::string user = "system:garbage-collector");
  ~GarbageCollector();

  // At most one write; false if there was nothing to do.
  bool Step();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// kube-controller-manager's namespace controller: empties namespaces that are being deleted, then
// finalizes them.
class NamespaceController {
 public:
  explicit NamespaceController(ApiServer& server, std::string user = "system:namespace-controller");
  bool Step();  // as above

 private:
  bool Empty(const std::string& space);

  ApiServer& server_;
  const std::string user_;
  std::uint64_t idle_at_ = 0;  // nothing to do at this version
};

// kube-controller-manager's quota controller: sets status.hard and status.used of ResourceQuotas
// from the pods that there are.
class QuotaController {
 public:
  explicit QuotaController(ApiServer& server, std::string user = "system:quota-controller");
  bool Step();  // as above

 private:
  Json StatusOf(const Json& quota, const std::string& space) const;

  ApiServer& server_;
  const std::string user_;
  std::uint64_t idle_at_ = 0;
};

// kube-controller-manager's pod collector: while more pods have ended than the threshold
// (terminated-pod-gc-threshold), the oldest go, evicted ones first.
class PodCollector {
 public:
  static constexpr std::chrono::seconds kPeriod{20};  // between two looks
  PodCollector(ApiServer& server, std::size_t threshold,
               std::string user = "system:pod-garbage-collector");
  // Chooses the pods that Step deletes.
  void Look();
  bool Step();  // as above

 private:
  ApiServer& server_;
  const std::size_t threshold_;
  const std::string user_;
  struct Chosen {
    api::ObjectKey key;
    std::string uid;
  };
  std::deque<Chosen> chosen_;
};

}  // namespace weft::world
