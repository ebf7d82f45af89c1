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

namespace weft::kube {
namespace {

namespace http = web::http;
using std::chrono::milliseconds;

constexpr std::size_t kMostErrorBytes = std::size_t{1} << 20;
constexpr milliseconds kLook{250};  // how often a stream's owner looks for silence and cancel

http::method MethodOf(Method method) {
  switch (method) {
    case Method::kGet:
      return http::methods::GET;
    case Method::kPost:
      return http::methods::POST;
    case Method::kPut:
      return http::methods::PUT;
    case Method::kPatch:
      return http::methods::PATCH;
    case Method::kDelete:
      return http::methods::DEL;
  }
  return http::methods::GET;
}

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

// An output buffer for cpprestsdk that hands every piece of a body on at once: constant memory, and
// a sink that returns late holds the peer back.
template <typename Sink>  // void(const char*, std::size_t); must not throw
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
    sink_(reinterpret_cast<const char*>(bytes), count);
    return pplx::task_from_result(count);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    sink_(reinterpret_cast<const char*>(&byte), 1);
    return pplx::task_from_result<int_type>(byte);
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

// Everything of one request that both the caller and the library's threads hold.
struct Exchange {
  std::mutex order;  // of pieces on their way to the sink; before `mutex`
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  bool broken = false;
  std::string why;
  Response response;
  bool streaming = false;  // the answer is 2xx: its body goes to the sink
  bool stopped = false;    // the sink wants no more
  bool in_sink = false;    // a piece is with it now
  std::chrono::steady_clock::time_point heard = std::chrono::steady_clock::now();
  pplx::cancellation_token_source cancel;
};

class HttpTransport final : public Transport {
 public:
  HttpTransport(Config config, std::string user_agent, std::size_t most_at_once)
      : config_(std::move(config)),
        user_agent_(std::move(user_agent)),
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
    config.set_timeout(std::chrono::minutes(10));  // ours are measured by the caller's thread
    config.set_validate_certificates(!config_.insecure);
    if (!config_.proxy.empty()) config.set_proxy(web::web_proxy(web::uri(config_.proxy)));
    config.set_ssl_context_callback([this](boost::asio::ssl::context& context) { SetUp(context); });
    return config;
  }

  // For every new connection. Errors surface as a handshake that fails.
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
    http::http_request prepared(MethodOf(request.method));
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
  static void Watch(Exchange& exchange, const Request& request, const Cancel* cancel);

  const Config config_;
  const std::string user_agent_;
  std::counting_semaphore<> slots_;
  Credentials credentials_;
  http::client::http_client client_;
  http::client::http_client stream_client_;
};

// Hands a piece of the body to the sink; a slow one holds the peer back. Under exchange.order.
void Deliver(Exchange& exchange, const ChunkSink& sink, std::string_view piece) {
  {
    const std::lock_guard lock(exchange.mutex);
    if (exchange.stopped || exchange.ended) return;
    exchange.in_sink = true;
  }
  const bool more = sink(piece);
  const std::lock_guard lock(exchange.mutex);
  exchange.heard = std::chrono::steady_clock::now();
  exchange.in_sink = false;
  exchange.stopped = !more;
  // Not for every piece: waking up the caller each time costs as much as reading.
  if (exchange.stopped || exchange.ended) exchange.changed.notify_all();
}

// The body arrives in the library's threads, and may be there before its head.
void Take(Exchange& exchange, const ChunkSink* sink, const char* bytes, std::size_t count) {
  const std::lock_guard order(exchange.order);
  {
    const std::lock_guard lock(exchange.mutex);
    exchange.heard = std::chrono::steady_clock::now();
    if (!exchange.streaming) {
      if (sink == nullptr || exchange.response.body.size() < kMostErrorBytes) {
        exchange.response.body.append(bytes, count);
      }
      return;
    }
  }
  Deliver(exchange, *sink, {bytes, count});
}

void TakeHead(Exchange& exchange, const ChunkSink* sink, const http::http_response& head) {
  const std::lock_guard order(exchange.order);
  std::string early;
  {
    const std::lock_guard lock(exchange.mutex);
    exchange.heard = std::chrono::steady_clock::now();
    exchange.response.status = head.status_code();
    exchange.response.retry_after = RetryAfter(head);
    exchange.streaming = sink != nullptr && head.status_code() / 100 == 2;
    if (exchange.streaming) early.swap(exchange.response.body);
  }
  if (!early.empty()) Deliver(exchange, *sink, early);
}

// cpprestsdk's own words mislead ("No route to host" for a refused connection): the phase says
// more.
std::string Plain(const std::string& phase, const std::exception& error) {
  return phase + " (" + error.what() + ")";
}

// Waits in the caller's thread, and cancels for silence, by order of `cancel` or of the sink.
void HttpTransport::Watch(Exchange& exchange, const Request& request, const Cancel* cancel) {
  const bool stream = cancel != nullptr;
  std::unique_lock lock(exchange.mutex);
  const auto start = std::chrono::steady_clock::now();
  bool told = false;
  while (!exchange.ended || exchange.in_sink) {  // the sink is the caller's: it must be out of it
    exchange.changed.wait_for(lock, kLook);
    if (exchange.ended || told) continue;
    const auto since = stream ? exchange.heard : start;
    const bool busy = stream && exchange.in_sink;  // the sink holds the server back
    const bool silent = !busy && std::chrono::steady_clock::now() - since > request.timeout;
    if (silent && !exchange.stopped) {
      exchange.broken = true;
      exchange.why = stream ? "the server has fallen silent" : "no answer in time";
    }
    if (silent || exchange.stopped || (stream && *cancel)) {
      told = true;
      lock.unlock();
      exchange.cancel.cancel();
      lock.lock();
    }
  }
}

Result<Response> HttpTransport::Once(const Request& request, const ChunkSink* sink,
                                     const Cancel* cancel) {
  Result<http::http_request> prepared = Prepare(request);
  if (!prepared) return prepared.error();
  const auto exchange = std::make_shared<Exchange>();
  const auto take = [exchange, sink](const char* bytes, std::size_t count) {
    Take(*exchange, sink, bytes, count);
  };
  using Buffer = PushBuffer<decltype(take)>;
  prepared->set_response_stream(concurrency::streams::ostream(
      concurrency::streams::streambuf<std::uint8_t>(std::make_shared<Buffer>(take))));
  auto& client = sink == nullptr ? client_ : stream_client_;
  const auto on_head = [exchange, sink](http::http_response response) {
    TakeHead(*exchange, sink, response);
    return response.content_ready();
  };
  client.request(*prepared, exchange->cancel.get_token())
      .then(on_head)
      .then([exchange](const pplx::task<http::http_response>& done) {
        std::string why;
        try {
          done.get();
        } catch (const std::exception& error) {
          why = Plain(exchange->response.status == 0 ? "no connection" : "the connection broke",
                      error);
        }
        const std::lock_guard lock(exchange->mutex);
        exchange->ended = true;
        if (!why.empty() && exchange->why.empty()) exchange->why = why;
        exchange->broken = exchange->broken || !why.empty();
        exchange->changed.notify_all();
      });
  Watch(*exchange, request, cancel);
  const std::lock_guard lock(exchange->mutex);
  const bool wanted = exchange->stopped || (cancel != nullptr && *cancel);
  if (exchange->broken && !(wanted && exchange->response.status != 0)) {
    return Error{ErrorKind::kTransient, config_.server + ": " + exchange->why};
  }
  return std::move(exchange->response);
}

}  // namespace

std::unique_ptr<Transport> MakeHttpTransport(Config config, const std::string& user_agent,
                                             std::size_t most_at_once) {
  return std::make_unique<HttpTransport>(std::move(config), user_agent, most_at_once);
}

void UseThreads(std::size_t threads) { crossplat::threadpool::initialize_with_threads(threads); }

}  // namespace weft::kube
