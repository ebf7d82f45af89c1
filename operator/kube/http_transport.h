#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "operator/base/timestamp.h"
#include "operator/kube/config.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Transport to one API server over cpprestsdk, with TLS 1.2 or later, trusting only the Config's
// authority. Each stream has its own connection. At most `most_at_once` other requests run at once,
// which also limits connections: a new connection costs both sides tens of milliseconds of TLS, and
// more requests would only wait in the server's queues.
//
// `on_date`, which may be null, is called with the Date of each successful answer as it arrives, in
// any thread.
//
// Call UseThreads before the first transport is made.
std::unique_ptr<Transport> MakeHttpTransport(Config config, const std::string& user_agent,
                                             std::size_t most_at_once = 16,
                                             std::function<void(UnixSeconds)> on_date = nullptr);

// Sets the size of cpprestsdk's thread pool, once per process. Few threads are several times faster
// than the default of 40.
void UseThreads(std::size_t threads);

}  // namespace weft::kube
