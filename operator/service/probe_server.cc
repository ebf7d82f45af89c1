#include "operator/service/probe_server.h"

#include <cpprest/http_listener.h>

#include <exception>
#include <utility>

namespace weft::service {
namespace {

namespace http = web::http;

void Reply(const http::http_request& request, const Health& health) {
  request.reply(health.well ? http::status_codes::OK : http::status_codes::ServiceUnavailable,
                health.well ? "ok\n" : health.why + "\n", "text/plain; charset=utf-8");
}

class Server final : public ProbeServer {
 public:
  Server(const std::string& uri, Probes probes)
      : probes_(std::move(probes)), listener_(web::uri(uri)) {
    listener_.support(http::methods::GET, [this](const http::http_request& request) {
      const std::string path = request.relative_uri().path();
      if (path == "/healthz") return Reply(request, probes_.live());
      if (path == "/readyz") return Reply(request, probes_.ready());
      request.reply(http::status_codes::NotFound, "not found; try /healthz or /readyz\n",
                    "text/plain");
    });
  }
  ~Server() override {
    try {
      listener_.close().wait();
    } catch (const std::exception&) {  // it is going anyway
    }
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void Open() { listener_.open().wait(); }

 private:
  const Probes probes_;
  http::experimental::listener::http_listener listener_;
};

}  // namespace

Result<std::unique_ptr<ProbeServer>> ServeProbes(const std::string& address, Probes probes) {
  const std::string host = address.starts_with(":") ? "0.0.0.0" + address : address;
  try {
    auto server = std::make_unique<Server>("http://" + host, std::move(probes));
    server->Open();
    return std::unique_ptr<ProbeServer>(std::move(server));
  } catch (const std::exception& error) {
    return Invalid("cannot listen on " + address + ": " + error.what());
  }
}

}  // namespace weft::service
