#include "operator/service/rpc_server.h"

#include <grpc/grpc_security_constants.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/security/tls_certificate_provider.h>
#include <weft/v1/placement_service.grpc.pb.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <fstream>
#include <future>
#include <utility>
#include <vector>

#include "operator/http/server.h"
#include "operator/http/slow_lane.h"
#include "operator/service/rpc_answers.h"

namespace weft::service {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;

constexpr std::chrono::seconds kLongestCall{30};
constexpr milliseconds kLook{500};  // how often a quiet stream checks if it has ended
constexpr unsigned kReloadSeconds = 10;
constexpr int kKeepAliveMilliseconds = 30'000;
constexpr int kConnectionMilliseconds = 30 * 60'000;
// Limits of load; calls beyond them get RESOURCE_EXHAUSTED at once.
constexpr int kMostCalls = 16, kMostStreams = 32;
constexpr int kMostMessageBytes = 1 << 20;  // in a request
constexpr int kSpareThreads = 4;            // for health checks, reflection and refusals
constexpr std::string_view kBearer = "Bearer ";

// Our kinds of error as gRPC's status codes.
grpc::Status StatusOf(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return {grpc::StatusCode::INVALID_ARGUMENT, error.message};
    case ErrorKind::kNotFound:
      return {grpc::StatusCode::NOT_FOUND, error.message};
    case ErrorKind::kConflict:
      return {grpc::StatusCode::ABORTED, error.message};
    case ErrorKind::kTransient:
      break;
  }
  return {grpc::StatusCode::UNAVAILABLE, error.message};
}

std::string TokenOf(const grpc::ServerContext& context) {
  const auto found = context.client_metadata().find("authorization");
  if (found == context.client_metadata().end()) return "";
  const std::string_view value(found->second.data(), found->second.size());
  return value.starts_with(kBearer) ? std::string(value.substr(kBearer.size())) : "";
}

RpcSource::Caller CallerOf(const grpc::ServerContext& context) {
  RpcSource::Caller caller;
  caller.token = TokenOf(context);
  const auto names = context.auth_context()->FindPropertyValues(GRPC_X509_CN_PROPERTY_NAME);
  if (!names.empty()) caller.certificate_name.assign(names.front().data(), names.front().size());
  return caller;
}

grpc::Status Forbidden(const RpcSource::Sight& sight) {
  const std::string what = sight.fabrics         ? "Fabrics"
                           : sight.space.empty() ? "Placements of all namespaces: name one"
                                                 : "Placements in namespace " + sight.space;
  return {grpc::StatusCode::PERMISSION_DENIED, "the caller may not list " + what};
}

// The right to run as one of at most `most` calls or streams.
class Turn {
 public:
  Turn(std::atomic<int>& taken, int most) : taken_(taken), has_(++taken <= most) {}
  ~Turn() { --taken_; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  explicit operator bool() const { return has_; }

 private:
  std::atomic<int>& taken_;
  const bool has_;
};

class Calls final : public v1::PlacementService::Service {
 public:
  Calls(const RpcOptions& options, RpcSource& source)
      : options_(options), source_(source), lane_(std::size_t{kMostCalls}) {}

  void Stop() { stopped_ = true; }

 private:
  grpc::Status Plan(grpc::ServerContext* context, const v1::PlanRequest* request,
                    v1::PlanResponse* response) override {
    std::vector<std::string> spaces;
    if (grpc::Status known = Identify(*context); !known.ok()) return known;
    grpc::Status read = Await(*context, spaces, [wanted = *request] { return SpacesOf(wanted); });
    if (!read.ok()) return read;
    for (const std::string& space : spaces) {
      if (grpc::Status seen = Admit(*context, {.space = space}); !seen.ok()) return seen;
    }
    return Answer(*context, *response, [wanted = *request](RpcSource::Live live) {
      return AnswerPlan(std::move(live), wanted, std::time(nullptr));
    });
  }
  grpc::Status Explain(grpc::ServerContext* context, const v1::ExplainRequest* request,
                       v1::ExplainResponse* response) override {
    const std::string space = request->namespace_().empty() ? "default" : request->namespace_();
    if (grpc::Status seen = Admit(*context, {.space = space}); !seen.ok()) return seen;
    return Answer(*context, *response, [wanted = *request](RpcSource::Live live) {
      return AnswerExplain(std::move(live), wanted, std::time(nullptr));
    });
  }
  grpc::Status GetFabric(grpc::ServerContext* context, const v1::GetFabricRequest* request,
                         v1::GetFabricResponse* response) override {
    if (grpc::Status seen = Admit(*context, {.fabrics = true, .space = ""}); !seen.ok()) {
      return seen;
    }
    return Answer(*context, *response, [wanted = *request](RpcSource::Live live) {
      return AnswerFabric(std::move(live), wanted);
    });
  }

  grpc::Status WatchPlacements(grpc::ServerContext* context,
                               const v1::WatchPlacementsRequest* request,
                               grpc::ServerWriter<v1::WatchPlacementsResponse>* writer) override;

  // Without TLS only this machine can reach the address, and every caller may see everything.
  bool TrustsAll(const RpcSource::Caller& caller) const {
    return options_.certificate.empty() && !options_.require_token && caller.token.empty();
  }

  grpc::Status Identify(const grpc::ServerContext& context) const {
    const RpcSource::Caller caller = CallerOf(context);
    if (TrustsAll(caller) || !caller.token.empty()) return grpc::Status::OK;
    if (options_.require_token) {
      return {grpc::StatusCode::UNAUTHENTICATED,
              "metadata \"authorization: Bearer ...\" is missing"};
    }
    if (!caller.certificate_name.empty()) return grpc::Status::OK;
    return {grpc::StatusCode::UNAUTHENTICATED, "the certificate has no common name"};
  }

  grpc::Status Admit(const grpc::ServerContext& context, const RpcSource::Sight& sight) {
    if (grpc::Status known = Identify(context); !known.ok()) return known;
    const RpcSource::Caller caller = CallerOf(context);
    if (TrustsAll(caller)) return grpc::Status::OK;
    const auto access = source_.Check(caller, sight);
    if (!access) return StatusOf(access.error());
    switch (*access) {
      case RpcSource::Access::kAllowed:
        return grpc::Status::OK;
      case RpcSource::Access::kForbidden:
        return Forbidden(sight);
      case RpcSource::Access::kUnknownCaller:
        break;
    }
    return {grpc::StatusCode::UNAUTHENTICATED, "the API server does not know the token"};
  }

  template <typename Response, typename Compute>
  grpc::Status Answer(grpc::ServerContext& context, Response& response, Compute compute) {
    return Await(context, response, [this, compute = std::move(compute)]() -> Result<Response> {
      Result<RpcSource::Live> live = source_.TakeSnapshot();
      if (!live) return live.error();
      return compute(*std::move(live));
    });
  }

  // Computes in the lane. Stops waiting at the deadline; the lane then skips the work if it has not
  // begun.
  template <typename Value, typename Compute>
  grpc::Status Await(grpc::ServerContext& context, Value& value, Compute compute) {
    struct Work {
      std::atomic<bool> abandoned = false;
      std::promise<Result<Value>> done;
    };
    const auto work = std::make_shared<Work>();
    std::future<Result<Value>> result = work->done.get_future();
    const bool taken = lane_.Take([work, compute = std::move(compute)] {
      if (!work->abandoned) work->done.set_value(compute());
    });
    if (!taken) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many calls at once"};
    const auto last = std::min(context.deadline(), system_clock::now() + kLongestCall);
    while (result.wait_for(std::min<system_clock::duration>(kLook, last - system_clock::now())) !=
           std::future_status::ready) {
      const bool late = system_clock::now() >= last;
      if (!late && !context.IsCancelled() && !stopped_) continue;
      work->abandoned = true;
      if (!late) return {grpc::StatusCode::CANCELLED, "cancelled"};
      return {grpc::StatusCode::DEADLINE_EXCEEDED, "no answer before the deadline"};
    }
    Result<Value> answer = result.get();
    if (!answer) return StatusOf(answer.error());
    value = *std::move(answer);
    return grpc::Status::OK;
  }

  const RpcOptions options_;
  RpcSource& source_;
  std::atomic<int> streams_ = 0;
  std::atomic<bool> stopped_ = false;
  http::SlowLane lane_;
};

// A stream that follows the log of decisions.
class Following {
 public:
  using Writer = grpc::ServerWriter<v1::WatchPlacementsResponse>;
  using Message = v1::WatchPlacementsResponse;

  Following(RpcSource::Decided decided, std::string space, Writer& writer)
      : decided_(std::move(decided)), space_(std::move(space)), writer_(writer) {}

  // Sends all current Placements, or only sets the start if there is a cursor.
  grpc::Status Begin(const std::string& cursor) {
    if (!cursor.empty()) {
      const auto from = NumberOf(cursor, decided_.epoch);
      if (!from) {
        return {grpc::StatusCode::OUT_OF_RANGE,
                "cursor: is malformed, or comes from another leader"};
      }
      number_ = *from;
      return grpc::Status::OK;
    }
    const auto all = decided_.log->All();
    number_ = all.number;
    for (const auto& placement : all.placements) {
      if (!IsWanted(placement->meta.key)) continue;
      Message message;  // has no cursor: a client that stops here has not seen all
      message.set_change(Message::CHANGE_SET);
      *message.mutable_placement() = MessageOf(*placement);
      if (!writer_.Write(message)) return {grpc::StatusCode::CANCELLED, "cancelled"};
    }
    return grpc::Status::OK;
  }

  // Sends the changes since then; waits for one for at most `patience`.
  grpc::Status Go(milliseconds patience) {
    const auto changes = decided_.log->After(number_, patience);
    if (!changes) return {grpc::StatusCode::OUT_OF_RANGE, "cursor: too old"};
    for (const auto& change : *changes) {
      number_ = change.number;
      if (!IsWanted(change.key)) continue;
      Message message;
      message.set_change(change.placement ? Message::CHANGE_SET : Message::CHANGE_GONE);
      if (change.placement) {
        *message.mutable_placement() = MessageOf(*change.placement);
      } else {
        message.mutable_placement()->set_namespace_(change.key.space);
        message.mutable_placement()->set_name(change.key.name);
      }
      if (!Send(std::move(message))) return {grpc::StatusCode::CANCELLED, "cancelled"};
    }
    return grpc::Status::OK;
  }

  bool SendSynced() {
    Message message;
    message.set_change(Message::CHANGE_SYNCED);
    return Send(std::move(message));
  }
  const std::string& epoch() const { return decided_.epoch; }

 private:
  bool IsWanted(const api::ObjectKey& key) const { return space_.empty() || key.space == space_; }
  bool Send(Message message) {
    message.set_cursor(CursorOf(decided_.epoch, number_));
    return writer_.Write(message);
  }

  const RpcSource::Decided decided_;
  const std::string space_;
  Writer& writer_;
  std::uint64_t number_ = 0;
};

grpc::Status Calls::WatchPlacements(grpc::ServerContext* context,
                                    const v1::WatchPlacementsRequest* request,
                                    grpc::ServerWriter<v1::WatchPlacementsResponse>* writer) {
  const RpcSource::Sight sight{.space = request->namespace_()};
  if (grpc::Status admitted = Admit(*context, sight); !admitted.ok()) return admitted;
  const Turn turn(streams_, kMostStreams);
  if (!turn) return {grpc::StatusCode::RESOURCE_EXHAUSTED, "too many streams at once"};
  const Result<RpcSource::Decided> decided = source_.Decisions();
  if (!decided) return StatusOf(decided.error());
  Following following(*decided, request->namespace_(), *writer);
  if (grpc::Status begun = following.Begin(request->cursor()); !begun.ok()) return begun;
  if (grpc::Status caught_up = following.Go(milliseconds(0)); !caught_up.ok()) return caught_up;
  if (!following.SendSynced()) return grpc::Status::OK;
  while (!context->IsCancelled() && !stopped_) {
    if (grpc::Status gone = following.Go(kLook); !gone.ok()) return gone;
    // An expired credential or a revoked right ends the stream; an API server that does not answer
    // does not.
    grpc::Status admitted = Admit(*context, sight);
    if (!admitted.ok() && admitted.error_code() != grpc::StatusCode::UNAVAILABLE) return admitted;
    const auto now = source_.Decisions();
    if (!now || now->epoch != following.epoch()) {
      return {grpc::StatusCode::UNAVAILABLE, "this replica is no longer the leader"};
    }
  }
  return grpc::Status::OK;
}

class GrpcServer final : public RpcServer {
 public:
  GrpcServer(const RpcOptions& options, RpcSource& source) : calls_(options, source) {}
  ~GrpcServer() override {
    calls_.Stop();
    if (!server_) return;
    server_->Shutdown(system_clock::now() + std::chrono::seconds(2));
    server_->Wait();
  }

  Status Start(const RpcOptions& options) {
    grpc::EnableDefaultHealthCheckService(true);
    const bool loopback = http::IsLoopback(options.address);
    if (loopback) grpc::reflection::InitProtoReflectionServerBuilderPlugin();
    grpc::ServerBuilder builder;
    builder.AddListeningPort(http::WithHost(options.address), CredentialsOf(options), &port_);
    builder.SetMaxReceiveMessageSize(kMostMessageBytes);
    grpc::ResourceQuota quota("weft");
    quota.SetMaxThreads(kMostCalls + kMostStreams + kSpareThreads);
    builder.SetResourceQuota(quota);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    // The server notices clients that are gone, and the others present their certificate again.
    builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepAliveMilliseconds);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, kConnectionMilliseconds);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS, kKeepAliveMilliseconds);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMostStreams);
    builder.RegisterService(&calls_);
    server_ = builder.BuildAndStart();
    if (!server_ || port_ == 0) return Invalid("cannot listen on " + options.address);
    return {};
  }
  int port() const override { return port_; }

 private:
  static std::shared_ptr<grpc::ServerCredentials> CredentialsOf(const RpcOptions& options) {
    if (options.certificate.empty()) return grpc::InsecureServerCredentials();
    namespace tls = grpc::experimental;
    tls::TlsServerCredentialsOptions settings(std::make_shared<tls::FileWatcherCertificateProvider>(
        options.key, options.certificate, options.client_authority, kReloadSeconds));
    settings.watch_root_certs();
    settings.watch_identity_key_cert_pairs();
    settings.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    return tls::TlsServerCredentials(settings);
  }

  Calls calls_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

Status Check(const RpcOptions& options) {
  const bool some =
      !options.certificate.empty() || !options.key.empty() || !options.client_authority.empty();
  for (const auto& [file, what] :
       {std::pair{&options.certificate, "certificate"}, std::pair{&options.key, "key"},
        std::pair{&options.client_authority, "client authority"}}) {
    if (some && file->empty()) return Invalid(std::string("no file of the ") + what);
    if (some && !std::ifstream(*file)) return Invalid(*file + ": cannot be read");
  }
  if (http::IsLoopback(options.address)) return {};
  if (!options.network) {
    return Invalid(options.address +
                   ": other machines can reach this address; use a loopback address, or allow it "
                   "with --grpc-network");
  }
  if (!some) {
    return Invalid(options.address + ": other machines can reach this address; give certificates");
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<RpcServer>> ServeRpc(const RpcOptions& options, RpcSource& source) {
  if (Status fits = Check(options); !fits) return fits.error();
  auto server = std::make_unique<GrpcServer>(options, source);
  if (Status started = server->Start(options); !started) return started.error();
  return std::unique_ptr<RpcServer>(std::move(server));
}

}  // namespace weft::service
