#pragma once

#include <functional>
#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/cli/map_page.h"
#include "operator/cli/operator_flags.h"
#include "operator/cli/operator_view.h"
#include "operator/controllers/log.h"
#include "operator/controllers/operator.h"
#include "operator/kube/access.h"
#include "operator/metrics/counters.h"
#include "operator/service/http_server.h"
#include "operator/service/probes.h"
#include "operator/service/rpc_server.h"
#include "operator/service/shared_certificate.h"

namespace weft::cli {

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
    std::function<service::Health()> ready;
    // The operator while this replica is leader, else null. It is shared, so that it lives while in
    // use.
    std::function<std::shared_ptr<controllers::Operator>()> operator_now;
  };
  OperatorServers(kube::Transport& transport, kube::Timer& timer, Options options);

  // Starts the servers, which run until destroyed.
  // Errors  kInvalid: an address or certificate cannot be used.
  Status Open();

 private:
  void AddPages(service::HttpServerOptions& server);
  service::HttpReply Metrics() const;
  Status OpenPages();
  Status OpenCalls();
  service::HttpReply Map();
  Status Secure(service::HttpServerOptions& server);
  Result<service::CertificateSource> Certificate();
  void LoadCertificate();
  std::optional<service::HttpReply> Refuse(const service::HttpRequest& request);

  const Options options_;
  kube::Client client_;
  kube::AccessCheck access_;
  OperatorView view_;
  MapPage map_;
  std::unique_ptr<service::SharedCertificate> certificate_;
  std::unique_ptr<service::HttpServer> probes_, pages_;
  std::unique_ptr<service::RpcServer> calls_;
};

}  // namespace weft::cli
