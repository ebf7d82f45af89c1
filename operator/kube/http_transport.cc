#include "operator/kube/http_transport.h"

#include <cpprest/astreambuf.h>
#include <cpprest/http_client.h>
#include <openssl/ssl.h>
#include <pplx/threadpool.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>

#include "operator/kube/credentials.h"
#include "operator/kube/load_config.h"

namespace weft::kube {
namespace {

namespace http = web::http;
using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostErrorBytes = std::size_t{1} << 20;
// Bytes of a stream between the library and the caller: enough to keep both busy.
constexpr std::size_t kMostWaiting = std::size_t{256} << 10;
constexpr milliseconds kLook{250};  // how often a caller looks for silence and cancel

std::string Target(const Request& request) {
  web::uri_builder target(request.path);
  for (const auto& [key, value] : request.query) {
    target.append_query(
        web::uri::encode_data_string(key) + "=" + web::uri::encode_data_string(value), false);
  }
  return target.to_string();
}

std::optional<milliseconds> RetryAfter(const http::http_response& response) {
  const auto found = response.headers().find("Retry-After");
  if (found == response.headers().end()) return std::nullopt;
  const std::string& text = found->second;
  constexpr std::size_t kMostDigits = 6;
  if (text.empty() || text.size() > kMostDigits ||
      text.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::chrono::seconds(std::stol(text));
}

// Of a successful answer.
std::optional<UnixSeconds> DateOf(const http::http_response& response) {
  const auto found = response.headers().find("Date");
  if (found == response.headers().end() || response.status_code() / 100 != 2) return std::nullopt;
  const auto date = utility::datetime::from_string(found->second, utility::datetime::RFC_1123);
  if (!date.is_initialized()) return std::nullopt;
  constexpr std::int64_t kTicks = 10'000'000, kFrom1601 = 11'644'473'600;  // to 1970, in seconds
  return static_cast<std::int64_t>(date.to_interval()) / kTicks - kFrom1601;
}

// An output buffer for cpprestsdk that passes on every piece of a body immediately, in the
// library's threads. The library continues to read when the task that the sink returns is done.
template <typename Sink>  // pplx::task<std::size_t>(const char*, std::size_t); must not throw
class PushBuffer : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
  using Base = Concurrency::streams::details::streambuf_state_manager<std::uint8_t>;

 public:
  explicit PushBuffer(Sink sink) : Base(std::ios_base::out), sink_(std::move(sink)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return pos_type(-1); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return pos_type(-1); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return pos_type(-1);
  }
  bool acquire(std::uint8_t*& bytes, std::size_t& count) override {
    bytes = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count) override {
    return sink_(reinterpret_cast<const char*>(bytes), count);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    return sink_(reinterpret_cast<const char*>(&byte), 1).then([byte](std::size_t) {
      return static_cast<int_type>(byte);
    });
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}
  pplx::task<int_type> _bumpc() override { return None(); }
  int_type _sbumpc() override { return -1; }
  pplx::task<int_type> _getc() override { return None(); }
  int_type _sgetc() override { return -1; }
  pplx::task<int_type> _nextc() override { return None(); }
  pplx::task<int_type> _ungetc() override { return None(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }

 private:
  static pplx::task<int_type> None() { return pplx::task_from_result<int_type>(-1); }

  Sink sink_;
};

// The state of one request that the caller shares with the library's threads.
struct Exchange {
  using Room = pplx::task_completion_event<std::size_t>;

  Exchange(bool streams, std::size_t most) : stream(streams), most_bytes(most) {}

  const bool stream;
  const std::size_t most_bytes;  // of the body; 0: no limit
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  bool broken = false;
  std::string why;
  Response response;
  bool stopped = false;  // the sink has ended the stream
  bool over = false;     // aborted: later pieces are dropped
  bool too_large = false;
  std::string waiting;       // pieces of a stream that the caller has not taken yet
  std::optional<Room> full;  // the library waits until the caller has taken them
  std::size_t held = 0;      // bytes of the piece that the library waits with
  SteadyClock::time_point heard = SteadyClock::now();
  pplx::cancellation_token_source cancel;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(Config config, std::string user_agent, std::size_t most_at_once,
                std::function<void(UnixSeconds)> on_date)
      : config_(std::move(config)),
        user_agent_(std::move(user_agent)),
        on_date_(std::move(on_date)),
        slots_(static_cast<std::ptrdiff_t>(most_at_once)),
        credentials_(config_),
        client_(config_.server, ClientConfig()),
        stream_client_(config_.server, ClientConfig()) {}

  Result<Response> Send(const Request& request) override {
    slots_.acquire();
    Result<Response> answer = SendNow(request);
    slots_.release();
    return answer;
  }

  Result<Response> Stream(const Request& request, const ChunkSink& sink,
                          const Cancel& cancel) override {
    Result<Response> answer = Once(request, &sink, &cancel);
    if (answer && answer->status == http::status_codes::Unauthorized) credentials_.Refused();
    return answer;
  }

 private:
  Result<Response> SendNow(const Request& request) {
    Result<Response> answer = Once(request, nullptr, nullptr);
    if (!answer || answer->status != http::status_codes::Unauthorized) return answer;
    credentials_.Refused();
    return Once(request, nullptr, nullptr);
  }

  http::client::http_client_config ClientConfig() {
    http::client::http_client_config config;
    config.set_timeout(std::chrono::minutes(10));  // the caller's thread enforces our timeouts
    config.set_validate_certificates(!config_.insecure);
    if (!config_.proxy.empty()) config.set_proxy(web::web_proxy(web::uri(config_.proxy)));
    config.set_ssl_context_callback([this](boost::asio::ssl::context& context) { SetUp(context); });
    return config;
  }

  // Called for every new connection. An error makes the handshake fail.
  void SetUp(boost::asio::ssl::context& context) {
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    if (!config_.authority.empty()) {
      SSL_CTX_set_cert_store(context.native_handle(), X509_STORE_new());
      if (const auto authority = Read(config_.authority)) {
        context.add_certificate_authority(boost::asio::buffer(*authority));
      }
    }
    const auto identity = credentials_.Get();
    if (!identity || identity->certificate.empty()) return;
    context.use_certificate_chain(boost::asio::buffer(identity->certificate));
    context.use_private_key(boost::asio::buffer(identity->key), boost::asio::ssl::context::pem);
  }

  Result<http::http_request> Prepare(const Request& request) {
    const auto identity = credentials_.Get();
    if (!identity) return identity.error();
    http::http_request prepared(NameOf(request.method));
    prepared.set_request_uri(Target(request));
    prepared.headers().add("User-Agent", user_agent_);
    prepared.headers().add("Accept", request.accept);
    if (!identity->token.empty()) {
      prepared.headers().add("Authorization", "Bearer " + identity->token);
    }
    if (!config_.impersonate.empty()) {
      prepared.headers().add("Impersonate-User", config_.impersonate);
      for (const std::string& group : config_.impersonate_groups) {
        prepared.headers().add("Impersonate-Group", group);
      }
    }
    if (!request.content_type.empty()) prepared.set_body(request.body, request.content_type);
    return prepared;
  }

  Result<Response> Once(const Request& request, const ChunkSink* sink, const Cancel* cancel);

  const Config config_;
  const std::string user_agent_;
  const std::function<void(UnixSeconds)> on_date_;
  std::counting_semaphore<> slots_;
  Credentials credentials_;
  http::client::http_client client_;
  http::client::http_client stream_client_;
};

// The body arrives in the library's threads, possibly before the head. These threads never wait for
// a sink, because the Lease, the probes and all other requests need them. If the caller is slow,
// the returned task completes later, and the library reads nothing until then.
pplx::task<std::size_t> Take(Exchange& exchange, const char* bytes, std::size_t count) {
  const std::lock_guard lock(exchange.mutex);
  exchange.heard = SteadyClock::now();
  if (exchange.over || exchange.ended) return pplx::task_from_result(count);
  if (!exchange.stream) {
    if (exchange.most_bytes != 0 && exchange.response.body.size() + count > exchange.most_bytes) {
      exchange.too_large = true;
      exchange.changed.notify_all();
      return pplx::task_from_result(count);
    }
    exchange.response.body.append(bytes, count);
    return pplx::task_from_result(count);
  }
  if (exchange.waiting.empty()) exchange.changed.notify_all();
  exchange.waiting.append(bytes, count);
  if (exchange.waiting.size() < kMostWaiting) return pplx::task_from_result(count);
  exchange.held = count;
  return pplx::task<std::size_t>(exchange.full.emplace());
}

void TakeHead(Exchange& exchange, const http::http_response& head) {
  const std::lock_guard lock(exchange.mutex);
  exchange.heard = SteadyClock::now();
  exchange.response.status = head.status_code();
  exchange.response.retry_after = RetryAfter(head);
  exchange.changed.notify_all();
}

// cpprestsdk's messages mislead ("No route to host" for a refused connection), so ours name the
// phase.
void TakeEnd(Exchange& exchange, const pplx::task<http::http_response>& done) {
  std::string words;
  try {
    done.get();
  } catch (const std::exception& error) {
    words = std::string(" (") + error.what() + ")";
  }
  const std::lock_guard lock(exchange.mutex);
  exchange.ended = true;
  if (!words.empty() && exchange.why.empty()) {
    exchange.why =
        (exchange.response.status == 0 ? "no connection" : "the connection broke") + words;
  }
  exchange.broken = exchange.broken || !words.empty();
  exchange.changed.notify_all();
}

// What the caller's thread does during a request: it passes a stream to the sink, and
// aborts the request after silence, at the end of its time, or if `cancel` or the sink says
// so.
class Caller {
 public:
  Caller(Exchange& exchange, const Request& request, const ChunkSink* sink, const Cancel* cancel)
      : exchange_(exchange), request_(request), sink_(sink), cancel_(cancel) {}

  void Run() {
    std::unique_lock lock(exchange_.mutex);
    while (true) {
      if (!exchange_.over && !exchange_.ended && IsOver()) BreakOff(lock);
      if (TakePiece(lock)) continue;
      if (exchange_.ended) return;
      exchange_.changed.wait_for(lock, Nap());
    }
  }

 private:
  // Returns true if there was a piece.
  bool TakePiece(std::unique_lock<std::mutex>& lock) {
    if (exchange_.waiting.empty() || exchange_.response.status == 0) return false;
    std::string piece = std::exchange(exchange_.waiting, {});
    ReadOn();
    if (exchange_.response.status / 100 != 2) {
      if (exchange_.response.body.size() < kMostErrorBytes) exchange_.response.body += piece;
      return true;
    }
    lock.unlock();
    const bool more = (*sink_)(piece);
    lock.lock();
    exchange_.heard = SteadyClock::now();  // the server waited for the sink, so this is not silence
    exchange_.stopped = !more;
    return true;
  }

  void ReadOn() {
    if (!exchange_.full) return;
    exchange_.full->set(exchange_.held);
    exchange_.full.reset();
  }

  milliseconds Nap() const {
    milliseconds left = kLook;
    if (!exchange_.stream) {
      const auto ends = start_ + request_.timeout;
      left = std::min(left, std::chrono::ceil<milliseconds>(ends - SteadyClock::now()));
    }
    if (request_.until) {
      // At least now: the difference to the earliest possible instant would overflow.
      const Instant now = BootClock::now();
      const Instant until = std::max(now, request_.until());
      left = std::min(left, std::chrono::ceil<milliseconds>(until - now));
    }
    return std::max(left, milliseconds(1));
  }

  bool IsOver() {
    if (exchange_.stopped || (cancel_ != nullptr && *cancel_)) return true;
    if (exchange_.too_large) return Broken("the answer is too large");
    const auto since = exchange_.stream ? exchange_.heard : start_;
    if (SteadyClock::now() - since > request_.timeout) {
      return Broken(exchange_.stream ? "the server has been silent for too long"
                                     : "no answer in time");
    }
    return !MaySend(request_, BootClock::now()) &&
           Broken("no answer before this process had to stop writing");
  }

  bool Broken(const char* why) {
    exchange_.why = why;
    return exchange_.broken = true;
  }

  void BreakOff(std::unique_lock<std::mutex>& lock) {
    exchange_.over = true;
    exchange_.waiting.clear();
    ReadOn();
    lock.unlock();
    exchange_.cancel.cancel();
    lock.lock();
  }

  Exchange& exchange_;
  const Request& request_;
  const ChunkSink* const sink_;
  const Cancel* const cancel_;
  const SteadyClock::time_point start_ = SteadyClock::now();
};

Result<Response> HttpTransport::Once(const Request& request, const ChunkSink* sink,
                                     const Cancel* cancel) {
  Result<http::http_request> prepared = Prepare(request);
  if (!prepared) return prepared.error();
  if (!MaySend(request, BootClock::now())) return NotSent();
  const auto exchange = std::make_shared<Exchange>(sink != nullptr, request.most_bytes);
  const auto take = [exchange](const char* bytes, std::size_t count) {
    return Take(*exchange, bytes, count);
  };
  using Buffer = PushBuffer<decltype(take)>;
  prepared->set_response_stream(concurrency::streams::ostream(
      concurrency::streams::streambuf<std::uint8_t>(std::make_shared<Buffer>(take))));
  auto& client = sink == nullptr ? client_ : stream_client_;
  const auto on_head = [exchange, on_date = on_date_](http::http_response response) {
    if (on_date) {
      if (const auto date = DateOf(response)) on_date(*date);
    }
    TakeHead(*exchange, response);
    return response.content_ready();
  };
  client.request(*prepared, exchange->cancel.get_token())
      .then(on_head)
      .then([exchange](const pplx::task<http::http_response>& done) { TakeEnd(*exchange, done); });
  Caller(*exchange, request, sink, cancel).Run();
  const std::lock_guard lock(exchange->mutex);
  const bool wanted = exchange->stopped || (cancel != nullptr && *cancel);
  if (exchange->broken && !(wanted && exchange->response.status != 0)) {
    return Error{ErrorKind::kTransient, config_.server + ": " + exchange->why};
  }
  return std::move(exchange->response);
}

}  // namespace

std::unique_ptr<Transport> MakeHttpTransport(Config config, const std::string& user_agent,
                                             std::size_t most_at_once,
                                             std::function<void(UnixSeconds)> on_date) {
  return std::make_unique<HttpTransport>(std::move(config), user_agent, most_at_once,
                                         std::move(on_date));
}

void UseThreads(std::size_t threads) { crossplat::threadpool::initialize_with_threads(threads); }

}  // namespace weft::kube
