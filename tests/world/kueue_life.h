#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/kube/transport.h"
#include "tests/world/kueue_status.h"

namespace weft::world {

// The random life of Workloads in one queue, as their owner, the controller of its check and an
// administrator play it. Requests are made for an API server in which the same was done before.
class KueueLife {
 public:
  // `find` gives an object of the API server for which the request is made.
  using Find = std::function<Json(const kube::Resource& resource, const api::ObjectKey& key)>;
  struct Action {
    std::string what;
    std::function<std::optional<kube::Request>(const Find& find, std::int64_t now)> request;
  };

  KueueLife(std::string lane, std::uint64_t seed) : lane_(std::move(lane)), chance_(seed) {}

  // The objects that it begins with: queues, flavor, check.
  std::vector<Action> Begin() const;
  // What happens next, by the state in one of the API servers.
  Action Next(const Find& find);
  const std::string& lane() const { return lane_; }
  bool stopped() const { return stopped_; }
  // All Workloads that were ever made.
  const std::vector<api::ObjectKey>& workloads() const { return made_; }

 private:
  Action Create();
  Action Patch(const std::string& what, const kube::Resource& resource, const api::ObjectKey& key,
               Json merge, std::string subresource = "") const;
  Action OfRules();
  Action OfWorkload(const api::ObjectKey& key, const Json& workload);
  Action Answer(const api::ObjectKey& key, const char* state);
  Action GiveBack(const api::ObjectKey& key) const;
  Action SetCondition(const api::ObjectKey& key, const std::string& type, bool is,
                      const std::string& reason) const;
  Action RemoveFinalizer(const api::ObjectKey& key) const;
  Action Bad(const api::ObjectKey& key) const;
  std::uint64_t Below(std::uint64_t count) { return chance_.Below(count); }

  const std::string lane_;
  SplitMix64 chance_;
  std::vector<api::ObjectKey> made_;
  bool stopped_ = false, inactive_ = false;
};

}  // namespace weft::world
