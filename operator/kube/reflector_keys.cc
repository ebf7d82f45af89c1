#include "operator/kube/reflector_keys.h"

#include <algorithm>

namespace weft::kube {

std::vector<api::ObjectKey> KnownKeys::EndList() {
  std::vector<api::ObjectKey> gone;
  for (auto at = lists_.begin(); at != lists_.end();) {
    if (at->second == list_) {
      ++at;
      continue;
    }
    const std::size_t slash = at->first.find('/');
    gone.push_back({at->first.substr(0, slash), at->first.substr(slash + 1)});
    at = lists_.erase(at);
  }
  std::sort(gone.begin(), gone.end());
  return gone;
}

}  // namespace weft::kube
