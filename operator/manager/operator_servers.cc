#include "operator/manager/operator_servers.h"

#include <optional>
#include <utility>

#include "operator/metrics/process.h"
#include "operator/metrics/samples.h"

namespace weft::manager {
namespace {

using http::Reply;
using http::Request;

constexpr const char* kOldGrpc =
    "distributions ship gRPC 1.51, which has known weaknesses (CVE-2023-1428, CVE-2023-33953): "
    "give certificates only to callers that you trust";

// Options for access reviews, which are cached; an uncached one must be answered quickly.
kube::Client::Options ReviewOptions() {
  kube::Client::Options options;
  options.field_manager = "weft-operator";
  options.tries = 1;
  return options;
}

}  // namespace

OperatorServers::OperatorServers(kube::Transport& transport, kube::Timer& timer, Options options)
    : options_(std::move(options)),
      timer_(timer),
      client_(transport, timer, ReviewOptions()),
      access_(client_, timer, {}),
      view_(options_.operator_now, options_.epoch, access_),
      map_(timer) {}

Status OperatorServers::Open() {
  const OperatorFlags& flags = *options_.flags;
  if (!flags.probe_address.empty()) {
    http::ServerOptions server;
    server.address = flags.probe_address;
    AddProbes(options_.live, options_.ready, server);
    const bool own = !flags.metrics_address.empty();
    if (!own && http::IsLoopback(flags.probe_address)) AddPages(server);
    auto opened = http::Serve(std::move(server));
    if (!opened) return opened.error();
    probes_ = *std::move(opened);
  }
  if (Status opened = OpenPages(); !opened) return opened;
  return OpenCalls();
}

Status OperatorServers::OpenPages() {
  const OperatorFlags& flags = *options_.flags;
  if (flags.metrics_address.empty()) return {};
  http::ServerOptions server;
  server.address = flags.metrics_address;
  AddPages(server);
  const bool secure = flags.metrics_security == "tls" ||
                      (flags.metrics_security == "auto" && !http::IsLoopback(server.address));
  if (secure) {
    if (Status secured = Secure(server); !secured) return secured;
  }
  auto opened = http::Serve(std::move(server));
  if (!opened) return opened.error();
  pages_ = *std::move(opened);
  return {};
}

Status OperatorServers::OpenCalls() {
  const OperatorFlags& flags = *options_.flags;
  if (flags.grpc_address.empty()) return {};
  service::RpcOptions server;
  server.address = flags.grpc_address;
  server.certificate = flags.grpc_certificate;
  server.key = flags.grpc_key;
  server.client_authority = flags.grpc_client_ca;
  server.network = flags.grpc_network;
  server.require_token = flags.grpc_require_token;
  auto opened = service::ServeRpc(server, view_);
  if (!opened) return Error{opened.error().kind, "--grpc-address: " + opened.error().message};
  calls_ = *std::move(opened);
  const std::string host = server.address.substr(0, server.address.rfind(':') + 1);
  options_.log->Info("serving gRPC", {{"address", host + std::to_string(calls_->port())}});
  if (!http::IsLoopback(server.address)) {
    options_.log->Warning("other machines can reach the gRPC service",
                          {{"address", server.address}, {"reason", kOldGrpc}});
  }
  return {};
}

void OperatorServers::AddPages(http::ServerOptions& server) {
  server.slow["/metrics"] = [this](const Request&) { return Metrics(); };
  server.slow["/map"] = [this](const Request&) { return Map(); };
}

Result<http::CertificateSource> OperatorServers::Certificate() {
  const OperatorFlags& flags = *options_.flags;
  if (!flags.metrics_cert_dir.empty()) return http::MountedCertificate(flags.metrics_cert_dir);
  if (flags.metrics_secret.empty()) {
    return http::SelfSignedCertificate({options_.host_name, "localhost", "127.0.0.1", "::1"},
                                       timer_);
  }
  auto shared = SharedCertificate::Make(client_, {options_.own_space, flags.metrics_secret});
  if (!shared) return shared.error();
  certificate_ = *std::move(shared);
  LoadCertificate();
  return certificate_->source();
}

// If it fails, the next allowed scrape tries again.
void OperatorServers::LoadCertificate() {
  if (!certificate_) return;
  if (const Status loaded = certificate_->Load(); !loaded) {
    options_.log->Warning("scrapers cannot verify the certificate of /metrics",
                          {{"reason", loaded.error().message}});
  }
}

Status OperatorServers::Secure(http::ServerOptions& server) {
  auto certificate = Certificate();
  if (!certificate) return certificate.error();
  server.certificate = *std::move(certificate);
  server.refuse = [this](const Request& request) { return Refuse(request); };
  return {};
}

std::optional<Reply> OperatorServers::Refuse(const Request& request) {
  kube::AccessQuestion question;
  question.path = request.path;
  switch (access_.Check(request.bearer, question)) {
    case kube::Access::kAllowed:
      LoadCertificate();
      return std::nullopt;
    case kube::Access::kUnauthenticated:
      return Reply{401, "a valid bearer token is required\n"};
    case kube::Access::kForbidden:
      return Reply{403, "not allowed to get this path\n"};
    case kube::Access::kBusy:
      return Reply{429, "too many requests with unknown tokens; try again later\n"};
    case kube::Access::kUnknown:
      break;
  }
  return Reply{503, "the API server did not answer whether this request is allowed\n"};
}

Reply OperatorServers::Map() {
  const auto work = options_.operator_now();
  if (!work) return {503, "this replica is not the leader; only the leader has the map\n"};
  if (!work->cluster().Synced()) return {503, "the leader is still reading the cluster\n"};
  return {200, map_.Show([&] { return work->cluster().SnapshotCluster(); }),
          "text/html; charset=utf-8"};
}

Reply OperatorServers::Metrics() const {
  using metrics::Id;
  metrics::Samples samples;
  samples.Add(Id::kBuildInfo, {options_.version}, 1);
  // One that reads must not hide that nobody places jobs.
  samples.Add(Id::kLeader, {}, options_.leads() && !options_.flags->read_only ? 1 : 0);
  metrics::MeasureProcess(samples);
  std::string figures;
  if (const auto work = options_.operator_now()) {
    work->Measure(samples);
    if (work->cluster().Synced()) {
      const auto all = work->Figures();
      samples.Add(Id::kCollectSeconds, {}, all->seconds);
      figures = all->text;
    }
  }
  return {200, samples.Text() + options_.counters->Text() + figures, "text/plain; version=0.0.4"};
}

}  // namespace weft::manager
