#include "operator/kube/environment.h"

#include <cstdlib>

namespace weft::kube {

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace weft::kube
