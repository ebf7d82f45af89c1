#pragma once

#include <memory>
#include <string>

#include "operator/api/inputs.h"
#include "operator/base/result.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "operator/controllers/placement_log.h"

namespace weft::service {

// The operator as gRPC calls see it.
// Thread-safety  all calls may run at once.
class RpcSource {
 public:
  virtual ~RpcSource() = default;

  // The cluster that the operator knows now, and the fabrics of its nodes.
  struct Live {
    api::Inputs inputs;
    std::shared_ptr<const cluster::Fabrics> fabrics;
  };
  // Errors  kTransient: this replica is not the leader, or has not read the cluster yet.
  virtual Result<Live> TakeSnapshot() = 0;

  // The log of decisions, with an epoch that is unique among all leaders' logs.
  // Errors  as in TakeSnapshot.
  struct Decided {
    std::shared_ptr<const controllers::PlacementLog> log;
    std::string epoch;
  };
  virtual Result<Decided> Decisions() = 0;

  // The caller: the holder of the bearer token if one was sent, else of the client certificate.
  struct Caller {
    std::string token;
    std::string certificate_name;  // the certificate's verified common name; "" if none
  };
  // What the caller wants to see: Placements of one namespace or of all, or Fabrics
  // (cluster-scoped).
  struct Sight {
    bool fabrics = false;
    std::string space;  // "": all
  };
  // Whether the caller may list these objects in the API server. It is checked before every answer
  // and repeatedly during a stream.
  // Errors  kTransient: the API server does not answer.
  enum class Access { kAllowed, kUnknownCaller, kForbidden };
  virtual Result<Access> Check(const Caller& caller, const Sight& sight) = 0;
};

}  // namespace weft::service
