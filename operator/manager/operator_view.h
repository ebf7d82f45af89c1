#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operator/controllers/operator.h"
#include "operator/kube/access.h"
#include "operator/service/rpc_source.h"

namespace weft::manager {

// The running operator as gRPC calls see it; empty while this replica is not the leader.
class OperatorView final : public service::RpcSource {
 public:
  using Working = std::function<std::shared_ptr<controllers::Operator>()>;  // null: not the leader

  // `epoch` names this process among all that ever led.
  OperatorView(Working working, std::string epoch, kube::AccessCheck& access);

  Result<Live> TakeSnapshot() override;
  Result<Decided> Decisions() override;
  // A caller who may list Placements of a namespace may also ask for plans there. A caller with
  // only a certificate is the user "weft-grpc:NAME".
  Result<Access> Check(const Caller& caller, const Sight& sight) override;

 private:
  Result<std::shared_ptr<controllers::Operator>> Leading() const;

  const Working working_;
  const std::string epoch_;
  kube::AccessCheck& access_;
};

}  // namespace weft::manager
