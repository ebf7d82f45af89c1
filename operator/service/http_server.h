#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/service/certificate.h"

namespace weft::service {

struct HttpRequest {
  std::string path;
  std::map<std::string, std::string> query;
  std::string bearer;  // the token of "Authorization: Bearer ...", "" without
};

struct HttpReply {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

using Handler = std::function<HttpReply(const HttpRequest&)>;

// Answers GET requests. Nothing waits for anything else: quick handlers run in the library's
// threads, which the watches of the API server share, and slow ones in a thread of the server's
// own, of lower priority, one after the other; what does not fit into its queue gets 503.
// Thread-safety  handlers are called from those threads.
class HttpServer {
 public:
  virtual ~HttpServer() = default;
};

struct HttpServerOptions {
  // "127.0.0.1:8081", "[::1]:8081", ":8081" for every address.
  std::string address;
  std::map<std::string, Handler> quick, slow;  // by path
  std::size_t most_waiting = 64;               // for the slow ones
  CertificateSource certificate;               // TLS 1.2 or later; null: plain HTTP
  // Asked before any handler, in the thread of the slow ones: nothing where the request may be
  // answered, else the refusal. Null: every request may.
  std::function<std::optional<HttpReply>(const HttpRequest&)> refuse;
};

// Serves until destroyed; nothing runs after that.
// Errors  kInvalid: no such address, or somebody else has it.
Result<std::unique_ptr<HttpServer>> Serve(HttpServerOptions options);

// With the host that ":8081" leaves out: every address of this machine.
std::string WithHost(const std::string& address);

// No other machine can reach it.
bool IsLoopback(const std::string& address);

}  // namespace weft::service
