#include "operator/manager/operator_view.h"

#include <utility>

namespace weft::manager {
namespace {

// Prefix of the common name of a client certificate. Its authority is not the cluster's, so it must
// not be able to name users of the cluster.
constexpr const char* kCertificateUser = "weft-grpc:";

}  // namespace

OperatorView::OperatorView(Working working, std::string epoch, kube::AccessCheck& access)
    : working_(std::move(working)), epoch_(std::move(epoch)), access_(access) {}

Result<std::shared_ptr<controllers::Operator>> OperatorView::Leading() const {
  auto work = working_();
  if (!work) return Error{ErrorKind::kTransient, "this replica is not the leader"};
  if (!work->cluster().Synced())
    return Error{ErrorKind::kTransient, "the cluster is still being read"};
  return work;
}

Result<service::RpcSource::Live> OperatorView::TakeSnapshot() {
  const auto work = Leading();
  if (!work) return work.error();
  watch::ClusterWatch& cluster = (*work)->cluster();
  watch::Store::Snapshot snapshot = cluster.TakeSnapshot();
  auto fabrics = cluster.fabrics().Of(snapshot);
  return Live{std::move(snapshot.inputs), std::move(fabrics)};
}

Result<service::RpcSource::Decided> OperatorView::Decisions() {
  const auto work = Leading();
  if (!work) return work.error();
  return Decided{(*work)->decisions(), epoch_};
}

Result<service::RpcSource::Access> OperatorView::Check(const Caller& caller, const Sight& sight) {
  const kube::AccessQuestion question{.verb = "list",
                                      .path = "",
                                      .group = std::string(api::kGroup),
                                      .resource = sight.fabrics ? "fabrics" : "placements",
                                      .space = sight.space};
  switch (caller.token.empty()
              ? access_.CheckUser(kCertificateUser + caller.certificate_name, question)
              : access_.Check(caller.token, question)) {
    case kube::Access::kAllowed:
      return Access::kAllowed;
    case kube::Access::kForbidden:
      return Access::kForbidden;
    case kube::Access::kUnauthenticated:
      return Access::kUnknownCaller;
    case kube::Access::kBusy:
    case kube::Access::kUnknown:
      break;
  }
  return Error{ErrorKind::kTransient,
               "the API server did not answer whether this request is allowed"};
}

}  // namespace weft::manager
