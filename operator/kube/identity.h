#pragma once

#include <string>

namespace weft::kube {

// Credentials for a connection and its requests.
struct Identity {
  std::string certificate, key;  // PEM; "" if none
  std::string token;             // bearer token; "" if none
};

}  // namespace weft::kube
