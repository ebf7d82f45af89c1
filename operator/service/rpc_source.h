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

  // What the API server says of a bearer token. Errors  kTransient: no answer.
  enum class Access { kAllowed, kUnknownToken, kForbidden };
  virtual Result<Access> Authenticate(const std::string& token) = 0;
};

}  // namespace weft::service
