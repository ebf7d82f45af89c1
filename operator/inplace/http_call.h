#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "operator/inplace/message.h"

namespace weft::inplace {

// The two calls that a parent answers over HTTP, beside the protocol and on the same port:
//   GET /state               what the parent does, as JSON
//   POST /stop?revision=K    restart all in place at revision K
// With a token each needs the header "Authorization: Bearer TOKEN".
struct HttpCall {
  int refused = 0;  // an HTTP status from 400 on; then nothing else is set
  bool stop = false;
  Revision revision = 0;  // of a stop
};

inline constexpr std::size_t kMaxHttpBytes = 4096;

// Whether a connection that begins with this text is HTTP and not the protocol; nothing while it
// could still be both.
std::optional<bool> IsHttp(std::string_view begin);

// The call of a request whose head is complete; nothing while it is not. Bodies are ignored.
// Input is hostile: a request that is none of the above is refused with 400, 401, 404, 405 or 431.
std::optional<HttpCall> ParseHttpCall(std::string_view request, std::string_view token);

// A whole answer, after which the connection is closed.
std::string HttpAnswer(int status, std::string_view json);

}  // namespace weft::inplace
