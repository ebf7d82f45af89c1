#include "operator/kube/transport.h"

namespace weft::kube {

bool MaySend(const Request& request, Instant now) {
  return !request.until || now < request.until();
}

Error NotSent() { return {ErrorKind::kTransient, "not sent: this process may not write now"}; }

}  // namespace weft::kube
