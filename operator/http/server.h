#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "operator/base/result.h"
#include "operator/http/certificate.h"

namespace weft::http {

struct Request {
  std::string path;
  std::map<std::string, std::string> query;
  std::string bearer;  // the token of "Authorization: Bearer ..."; "" if none
};

struct Reply {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
};

using Handler = std::function<Reply(const Request&)>;

// Answers GET requests. Quick handlers run in the HTTP library's threads, which the watches of the
// API server use too. Slow handlers run one after the other in the server's own thread, at lower
// priority; a request that does not fit into its queue gets 503.
// Thread-safety  handlers are called in these threads.
class Server {
 public:
  virtual ~Server() = default;
};

struct ServerOptions {
  // "127.0.0.1:8081", "[::1]:8081", ":8081" for every address.
  std::string address;
  std::map<std::string, Handler> quick, slow;  // by path
  std::size_t most_waiting = 64;               // requests in the queue of slow handlers
  CertificateSource certificate;               // TLS 1.2 or later; null: plain HTTP
  // Called before any handler, in the thread of slow handlers: returns nothing if the request may
  // be answered, else the refusal. Null: all requests are answered.
  std::function<std::optional<Reply>(const Request&)> refuse;
};

// Starts a server that runs until it is destroyed; no handler runs after that.
// Errors  kInvalid: the address does not exist or is in use.
Result<std::unique_ptr<Server>> Serve(ServerOptions options);

// The address with its host: ":8081" means every address of this machine.
std::string WithHost(const std::string& address);

// Whether only this machine can reach the address.
bool IsLoopback(const std::string& address);

}  // namespace weft::http
