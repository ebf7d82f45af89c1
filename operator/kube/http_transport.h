#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "operator/kube/config.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Transport to one API server over cpprestsdk. TLS 1.2 or later, trusting the Config's authority
// alone; own connections for streams. At most `most_at_once` other requests are under way, and so
// connections open: a new one costs both sides tens of milliseconds of TLS, and requests beyond
// would only wait in the server's queues.
//
// Before the first one is made, the program settles the library's threads by UseThreads.
std::unique_ptr<Transport> MakeHttpTransport(Config config, const std::string& user_agent,
                                             std::size_t most_at_once = 16);

// cpprestsdk's pool, once a process: few threads are several times faster than its 40.
void UseThreads(std::size_t threads);

}  // namespace weft::kube
