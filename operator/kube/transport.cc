#include "operator/kube/transport.h"

namespace weft::kube {

const char* NameOf(Method method) {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kPatch:
      return "PATCH";
    case Method::kDelete:
      return "DELETE";
  }
  return "";
}

bool MaySend(const Request& request, Instant now) {
  return !request.until || now < request.until();
}

Error NotSent() { return {ErrorKind::kTransient, "not sent: this process may not write now"}; }

}  // namespace weft::kube
