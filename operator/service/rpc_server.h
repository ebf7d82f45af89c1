#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/service/rpc_source.h"

namespace weft::service {

struct RpcOptions {
  std::string address;  // "127.0.0.1:9090"; ":9090": all addresses; port 0: a free port
  // PEM files, all three or none. With them, callers need a certificate of `client_authority`. They
  // are read again when they change.
  std::string certificate, key, client_authority;
  bool network = false;  // allow an address that other machines can reach; requires the files
  // Require a bearer token in addition to the certificate. Without a token the caller is the
  // certificate's common name; without certificates everybody on this machine may see everything.
  bool require_token = false;
};

// Serves proto/weft/v1 until destroyed, with health checks, and with reflection on loopback. Calls
// that plan run one at a time in threads of low priority, so that they do not delay the operator's
// placements.
class RpcServer {
 public:
  virtual ~RpcServer() = default;
  virtual int port() const = 0;
};

// Errors  kInvalid: the address does not exist or is in use, or files are missing or do not match.
Result<std::unique_ptr<RpcServer>> ServeRpc(const RpcOptions& options, RpcSource& source);

}  // namespace weft::service
