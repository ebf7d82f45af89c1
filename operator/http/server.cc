#include "operator/http/server.h"

#include <cpprest/http_listener.h>

#include <exception>
#include <utility>

#include "operator/http/slow_lane.h"

namespace weft::http {
namespace {

namespace rest = web::http;

constexpr std::string_view kBearer = "Bearer ";

Request Read(const rest::http_request& request) {
  Request read;
  read.path = request.relative_uri().path();
  for (const auto& [key, value] : web::uri::split_query(request.relative_uri().query())) {
    read.query[web::uri::decode(key)] = web::uri::decode(value);
  }
  const auto found = request.headers().find("Authorization");
  if (found != request.headers().end() && found->second.starts_with(kBearer)) {
    read.bearer = found->second.substr(kBearer.size());
  }
  return read;
}

// If the reader has disconnected, that is not an error.
void Send(const rest::http_request& request, const Reply& reply) {
  rest::http_response response(static_cast<rest::status_code>(reply.status));
  response.headers().add("Cache-Control", "no-store");
  response.headers().add("X-Content-Type-Options", "nosniff");
  response.set_body(reply.body, reply.content_type);
  request.reply(response).then([](const pplx::task<void>& sent) {
    try {
      sent.get();
    } catch (const std::exception&) {
    }
  });
}

// The certificate is read for every connection, so that a replaced one is used at once.
rest::experimental::listener::http_listener_config ConfigOf(const CertificateSource& source) {
  rest::experimental::listener::http_listener_config config;
  if (!source) return config;
  config.set_ssl_context_callback([source](boost::asio::ssl::context& context) {
    const std::shared_ptr<const Pem> pem = source();
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    context.use_certificate_chain(boost::asio::buffer(pem->chain));
    context.use_private_key(boost::asio::buffer(pem->key), boost::asio::ssl::context::pem);
  });
  return config;
}

class Listener final : public Server {
 public:
  Listener(const std::string& uri, ServerOptions options)
      : options_(std::move(options)),
        listener_(web::uri(uri), ConfigOf(options_.certificate)),
        lane_(options_.most_waiting) {
    listener_.support(rest::methods::GET,
                      [this](const rest::http_request& request) { Answer(request); });
  }
  ~Listener() override {
    try {
      listener_.close().wait();
    } catch (const std::exception&) {  // the server is being destroyed anyway
    }
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  void Open() { listener_.open().wait(); }

 private:
  void Answer(const rest::http_request& request) {
    const Request read = Read(request);
    if (options_.refuse) {
      return Queue(request, [this, request, read] { AnswerIfAllowed(request, read); });
    }
    if (const auto quick = options_.quick.find(read.path); quick != options_.quick.end()) {
      return Send(request, quick->second(read));
    }
    const auto slow = options_.slow.find(read.path);
    if (slow == options_.slow.end()) return Send(request, {404, NotFound()});
    Queue(request, [request, read, handle = &slow->second] { Send(request, (*handle)(read)); });
  }

  void Queue(const rest::http_request& request, std::function<void()> work) {
    if (!lane_.Take(std::move(work))) Send(request, {503, "too many requests wait already\n"});
  }

  void AnswerIfAllowed(const rest::http_request& request, const Request& read) {
    if (const auto refused = options_.refuse(read)) return Send(request, *refused);
    for (const auto* paths : {&options_.quick, &options_.slow}) {
      const auto handle = paths->find(read.path);
      if (handle != paths->end()) return Send(request, handle->second(read));
    }
    Send(request, {404, NotFound()});
  }

  std::string NotFound() const {
    std::string text = "not found; try";
    for (const auto* paths : {&options_.quick, &options_.slow}) {
      for (const auto& [path, handle] : *paths) text += " " + path;
    }
    return text + "\n";
  }

  const ServerOptions options_;
  rest::experimental::listener::http_listener listener_;
  SlowLane lane_;  // ends before the listener
};

}  // namespace

Result<std::unique_ptr<Server>> Serve(ServerOptions options) {
  const std::string& address = options.address;
  const std::string host = WithHost(address);
  try {
    auto server =
        std::make_unique<Listener>((options.certificate ? "https://" : "http://") + host, options);
    server->Open();
    return std::unique_ptr<Server>(std::move(server));
  } catch (const std::exception& error) {
    return Invalid("cannot listen on " + address + ": " + error.what());
  }
}

std::string WithHost(const std::string& address) {
  return address.starts_with(":") ? "0.0.0.0" + address : address;
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address.starts_with("localhost:") ||
         address.starts_with("[::1]:");
}

}  // namespace weft::http
