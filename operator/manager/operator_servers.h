#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/controllers/log.h"
#include "operator/controllers/operator.h"
#include "operator/http/probes.h"
#include "operator/http/server.h"
#include "operator/kube/access.h"
#include "operator/manager/operator_flags.h"
#include "operator/manager/operator_view.h"
#include "operator/manager/shared_certificate.h"
#include "operator/metrics/counters.h"
#include "operator/program/map_page.h"
#include "operator/service/rpc_server.h"

namespace weft::manager {

// The servers of the operator: HTTP for probes, metrics and the map of its fabrics, gRPC for plans
// and decisions. Metrics and the map share the probes' address if that is loopback. Otherwise they
// need their own address, with TLS, and callers need the right to get the path.
class OperatorServers {
 public:
  struct Options {
    const OperatorFlags* flags = nullptr;
    std::string version;
    std::string host_name;  // name in this replica's own certificate
    std::string own_space;  // namespace of the replicas
    metrics::Counters* counters = nullptr;
    controllers::Log* log = nullptr;
    std::string epoch;  // unique to this process
    std::function<bool()> leads;
    std::function<http::Health()> live, ready;
    // The operator while this replica is leader, else null. It is shared, so that it lives while in
    // use.
    std::function<std::shared_ptr<controllers::Operator>()> operator_now;
  };
  OperatorServers(kube::Transport& transport, kube::Timer& timer, Options options);

  // Starts the servers, which run until destroyed.
  // Errors  kInvalid: an address or certificate cannot be used.
  Status Open();

 private:
  void AddPages(http::ServerOptions& server);
  http::Reply Metrics() const;
  Status OpenPages();
  Status OpenCalls();
  http::Reply Map();
  Status Secure(http::ServerOptions& server);
  Result<http::CertificateSource> Certificate();
  void LoadCertificate();
  std::optional<http::Reply> Refuse(const http::Request& request);

  const Options options_;
  kube::Timer& timer_;
  kube::Client client_;
  kube::AccessCheck access_;
  OperatorView view_;
  program::MapPage map_;
  std::unique_ptr<SharedCertificate> certificate_;
  std::unique_ptr<http::Server> probes_, pages_;
  std::unique_ptr<service::RpcServer> calls_;
};

}  // namespace weft::manager
