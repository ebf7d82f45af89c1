#include "operator/cli/operator_view.h"

#include <utility>

namespace weft::cli {

OperatorView::OperatorView(Working working, std::string epoch, kube::AccessCheck& access)
    : working_(std::move(working)), epoch_(std::move(epoch)), access_(access) {}

Result<std::shared_ptr<controllers::Operator>> OperatorView::Leading() const {
  auto work = working_();
  if (!work) return Error{ErrorKind::kTransient, "this replica does not lead"};
  if (!work->Synced()) return Error{ErrorKind::kTransient, "the cluster is still being read"};
  return work;
}

Result<service::RpcSource::Live> OperatorView::Look() {
  const auto work = Leading();
  if (!work) return work.error();
  controllers::Store::Picture picture = (*work)->Look();
  auto fabrics = (*work)->FabricsOf(picture);
  return Live{std::move(picture.inputs), std::move(fabrics)};
}

Result<service::RpcSource::Decided> OperatorView::Decisions() {
  const auto work = Leading();
  if (!work) return work.error();
  return Decided{(*work)->decisions(), epoch_};
}

// Whoever may list Placements may ask what they would be.
Result<service::RpcSource::Access> OperatorView::Authenticate(const std::string& token) {
  switch (access_.Check(
      token, {.verb = "list", .path = "", .group = "weft.dev", .resource = "placements"})) {
    case kube::Access::kAllowed:
      return Access::kAllowed;
    case kube::Access::kForbidden:
      return Access::kForbidden;
    case kube::Access::kUnauthenticated:
      return Access::kUnknownToken;
    case kube::Access::kBusy:
    case kube::Access::kUnknown:
      break;
  }
  return Error{ErrorKind::kTransient, "the token cannot be checked at the moment"};
}

}  // namespace weft::cli
