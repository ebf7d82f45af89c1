#pragma once

#include <memory>
#include <string>

#include "operator/api/kinds.h"
#include "operator/base/result.h"
#include "operator/controllers/placement_log.h"
#include "operator/decide/cluster.h"

namespace weft::service {

// What calls over the network see of the operator.
// Thread-safety  all calls may run at once.
class RpcSource {
 public:
  virtual ~RpcSource() = default;

  // The cluster as the operator knows it now, and the fabrics of its nodes.
  struct Live {
    api::Inputs inputs;
    std::shared_ptr<const decide::Fabrics> fabrics;
  };
  // Errors  kTransient: this replica does not lead, or has not read the cluster yet.
  virtual Result<Live> Look() = 0;

  // What was decided, under a name that no other leader's log has. Errors as Look.
  struct Decided {
    std::shared_ptr<const controllers::PlacementLog> log;
    std::string epoch;
  };
  virtual Result<Decided> Decisions() = 0;

  // Who calls: the holder of a bearer token, where one was sent, else that of a client certificate.
  struct Caller {
    std::string token;
    std::string certificate_name;  // its common name, verified; "" without a certificate
  };
  // What they want to see: Placements of one namespace, or of all; or Fabrics, which have none.
  struct Sight {
    bool fabrics = false;
    std::string space;  // "" all
  };
  // Whether the API server lets the caller list it. Asked before every answer and all through a
  // stream. Errors  kTransient: no answer now.
  enum class Access { kAllowed, kUnknownCaller, kForbidden };
  virtual Result<Access> Check(const Caller& caller, const Sight& sight) = 0;
};

}  // namespace weft::service
