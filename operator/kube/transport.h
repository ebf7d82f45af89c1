#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "operator/base/result.h"
#include "operator/kube/timer.h"

namespace weft::kube {

enum class Method : std::uint8_t { kGet, kPost, kPut, kPatch, kDelete };

// One HTTP request to the API server, without the server's address and without credentials.
struct Request {
  Method method = Method::kGet;
  std::string path;                          // "/api/v1/nodes", escaped
  std::map<std::string, std::string> query;  // unescaped
  std::string content_type;                  // of the body, "" without one
  std::string body;
  std::string accept = "application/json";
  // Bounds the whole request for Send, silence for Stream.
  std::chrono::milliseconds timeout{30'000};
  // From this moment on it is not sent any more, and is broken off if it is under way; null: never.
  // Asked again and again, so that a leader's writes go on while its lease is renewed, and end with
  // it.
  std::function<Instant()> until;
};

// Asked right before the bytes leave, after every wait.
bool MaySend(const Request& request, Instant now);
Error NotSent();  // kTransient

struct Response {
  int status = 0;
  std::optional<std::chrono::milliseconds> retry_after;
  std::string body;
};

// Set from another thread to end a stream soon (within a second).
using Cancel = std::atomic<bool>;

// Called with pieces of a stream's body in order, in the thread that called Stream; false ends the
// stream. May block: the peer is held back, and nobody else.
using ChunkSink = std::function<bool(std::string_view chunk)>;

// All requests to an API server go through this interface. An answer with any HTTP status is a
// Response; an Error means that there was no answer.
//
// Errors         kTransient: no connection, a broken one, a timeout; kInvalid: credentials that
//                cannot be had (the message says which file or plug-in).
// Thread-safety  all calls may run at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<Response> Send(const Request& request) = 0;
  // The body of a 2xx answer goes to the sink while it arrives and Response::body stays empty; of
  // any other answer it is in Response::body, at most a megabyte. Ends at the end of the stream,
  // when the sink or `cancel` says so, or after request.timeout without a byte (kTransient).
  virtual Result<Response> Stream(const Request& request, const ChunkSink& sink,
                                  const Cancel& cancel) = 0;
};

}  // namespace weft::kube
