#include "operator/service/http_server.h"

#include <cpprest/http_listener.h>

#include <exception>
#include <utility>

#include "operator/service/slow_lane.h"

namespace weft::service {
namespace {

namespace http = web::http;

constexpr std::string_view kBearer = "Bearer ";

HttpRequest Read(const http::http_request& request) {
  HttpRequest read;
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
void Send(const http::http_request& request, const HttpReply& reply) {
  http::http_response response(static_cast<http::status_code>(reply.status));
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
http::experimental::listener::http_listener_config ConfigOf(const CertificateSource& source) {
  http::experimental::listener::http_listener_config config;
  if (!source) return config;
  config.set_ssl_context_callback([source](boost::asio::ssl::context& context) {
    const std::shared_ptr<const Pem> pem = source();
    SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    context.use_certificate_chain(boost::asio::buffer(pem->chain));
    context.use_private_key(boost::asio::buffer(pem->key), boost::asio::ssl::context::pem);
  });
  return config;
}

class Server final : public HttpServer {
 public:
  Server(const std::string& uri, HttpServerOptions options)
      : options_(std::move(options)),
        listener_(web::uri(uri), ConfigOf(options_.certificate)),
        lane_(options_.most_waiting) {
    listener_.support(http::methods::GET,
                      [this](const http::http_request& request) { Answer(request); });
  }
  ~Server() override {
    try {
      listener_.close().wait();
    } catch (const std::exception&) {  // the server is being destroyed anyway
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void Open() { listener_.open().wait(); }

 private:
  void Answer(const http::http_request& request) {
    const HttpRequest read = Read(request);
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

  void Queue(const http::http_request& request, std::function<void()> work) {
    if (!lane_.Take(std::move(work))) Send(request, {503, "too many requests wait already\n"});
  }

  void AnswerIfAllowed(const http::http_request& request, const HttpRequest& read) {
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

  const HttpServerOptions options_;
  http::experimental::listener::http_listener listener_;
  SlowLane lane_;  // ends before the listener
};

}  // namespace

Result<std::unique_ptr<HttpServer>> Serve(HttpServerOptions options) {
  const std::string& address = options.address;
  const std::string host = WithHost(address);
  try {
    auto server =
        std::make_unique<Server>((options.certificate ? "https://" : "http://") + host, options);
    server->Open();
    return std::unique_ptr<HttpServer>(std::move(server));
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

}  // namespace weft::service
