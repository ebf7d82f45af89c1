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
const char* NameOf(Method method);  // "GET"

// One HTTP request to the API server, without the server's address and without credentials.
struct Request {
  Method method = Method::kGet;
  std::string path;                          // "/api/v1/nodes", escaped
  std::map<std::string, std::string> query;  // unescaped
  std::string content_type;                  // of the body; "" without a body
  std::string body;
  std::string accept = "application/json";
  // Limits the whole request in Send, and silence in Stream.
  std::chrono::milliseconds timeout{30'000};
  // Of the answer's body in Send: a longer one counts as no answer. 0: no limit.
  std::size_t most_bytes = 0;
  // The moment from which the request must not be sent, and is aborted if it is in progress; null:
  // never. It is called repeatedly, so a leader's writes go on while its Lease is renewed and end
  // with its leadership.
  std::function<Instant()> until;
};

// Whether the request may be sent now; to be checked after every wait, just before sending.
bool MaySend(const Request& request, Instant now);
Error NotSent();  // kTransient

struct Response {
  int status = 0;
  std::optional<std::chrono::milliseconds> retry_after;
  std::string body;
};

// Set by another thread to end a stream within a second.
using Cancel = std::atomic<bool>;

// Receives the pieces of a stream's body in order, in the thread that called Stream; returns false
// to end the stream. It may block: then only this stream's server waits.
using ChunkSink = std::function<bool(std::string_view chunk)>;

// The interface for all requests to an API server. Any answer, whatever its HTTP status, is a
// Response; an Error means that there was no answer.
//
// Errors         kTransient: no connection, a broken connection, a timeout; kInvalid: no
//                credentials (the message names the file or plug-in).
// Thread-safety  all calls may run at once.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Result<Response> Send(const Request& request) = 0;
  // The body of a 2xx answer goes to the sink as it arrives, and Response::body stays empty; the
  // body of any other answer, up to a megabyte, is in Response::body. Returns at the end of the
  // stream, when the sink or `cancel` stops it, or after request.timeout without a byte
  // (kTransient).
  virtual Result<Response> Stream(const Request& request, const ChunkSink& sink,
                                  const Cancel& cancel) = 0;
};

}  // namespace weft::kube
