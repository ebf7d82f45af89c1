#pragma once

#include "operator/controllers/api_writer.h"
#include "operator/kube/client.h"

namespace weft::controllers {

// ApiWriter over the client. It writes only while `may_write` is true: a leader that loses its
// Lease stops in the middle of a batch.
class KubeWriter final : public ApiWriter {
 public:
  KubeWriter(kube::Client& client, std::function<bool()> may_write)
      : client_(client), may_write_(std::move(may_write)) {}

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
  Result<nlohmann::json> EventsIn(const std::string& space, const char* selector);
  Result<nlohmann::json> Merge(const Target& target, nlohmann::json patch,
                               std::string_view subresource);
  Status Allowed() const;

  kube::Client& client_;
  const std::function<bool()> may_write_;
};

}  // namespace weft::controllers
