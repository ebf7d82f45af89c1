#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/service/rpc_source.h"

namespace weft::service {

struct RpcOptions {
  std::string address;  // "127.0.0.1:9090", ":9090" for all; port 0 picks a free one
  // PEM files. With them callers need a certificate of `client_authority`; read anew as they
  // change. All three or none.
  std::string certificate, key, client_authority;
  bool network = false;  // allow an address that other machines reach; needs the files
  // A bearer token beside the certificate. Without a token the caller is the certificate's common
  // name; without certificates everybody on this machine may see everything.
  bool require_token = false;
  // Bounds on load; calls beyond them get RESOURCE_EXHAUSTED at once.
  int most_calls = 16;
  int most_streams = 32;
  int most_message_bytes = 1 << 20;  // of a request
};

// Serves proto/weft/v1 until destroyed, with health checks, and reflection on loopback. Calls that
// plan run one at a time in threads of low priority, so that placing is never held up.
class RpcServer {
 public:
  virtual ~RpcServer() = default;
  virtual int port() const = 0;
};

// Errors  kInvalid: no such address, somebody else has it, files that are missing or do not fit.
Result<std::unique_ptr<RpcServer>> ServeRpc(const RpcOptions& options, RpcSource& source);

}  // namespace weft::service
