#pragma once

#include <functional>
#include <string>

#include "operator/controllers/api_writer.h"
#include "operator/metrics/counters.h"
#include "operator/run/clock.h"

namespace weft::controllers {

// Passes every write on to another writer, and counts it with result and duration.
class CountingWriter final : public ApiWriter {
 public:
  CountingWriter(ApiWriter& writer, metrics::Counters& counters, const run::Clock& clock)
      : writer_(writer), counters_(counters), clock_(clock) {}

  Result<nlohmann::json> Create(Kind kind, const nlohmann::json& object, bool dry_run) override;
  Result<nlohmann::json> Get(const Target& target) override;
  Result<nlohmann::json> GetOwner(const api::OwnerReference& owner,
                                  const std::string& space) override;
  Result<nlohmann::json> WarningsIn(const std::string& space) override;
  Result<nlohmann::json> PullsIn(const std::string& space) override;
  Result<nlohmann::json> Patch(const Target& target, const nlohmann::json& patch) override;
  Result<nlohmann::json> PatchStatus(const Target& target, const nlohmann::json& patch) override;
  Result<nlohmann::json> PatchExactly(const Target& target,
                                      const nlohmann::json& operations) override;
  Status Delete(const Target& target) override;
  Status Evict(const Target& target) override;

 private:
  template <typename Call>
  auto Count(const char* verb, Kind kind, const Call& call);

  ApiWriter& writer_;
  metrics::Counters& counters_;
  const run::Clock& clock_;
};

}  // namespace weft::controllers
