#pragma once

namespace weft::kube {

// Status codes of HTTP that mean something to a client of the API server.
inline constexpr int kUnauthorized = 401, kForbidden = 403, kNotFound = 404, kConflict = 409,
                     kGone = 410;
inline constexpr int kTooManyRequests = 429, kUnavailable = 503, kGatewayTimeout = 504;

}  // namespace weft::kube
