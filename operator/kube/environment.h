#pragma once

#include <string>

namespace weft::kube {

// The environment variable; "" if it is not set.
std::string Environment(const char* name);

}  // namespace weft::kube
