#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "operator/cluster/cluster.h"

namespace weft::program {

// The live map of a watched cluster, as a page that reloads itself. It is drawn at most every two
// seconds, and drawing takes at most a twentieth of the time, for any number of viewers.
// Thread-safety  all calls may run at once.
class MapPage {
 public:
  using Look = std::function<cluster::Cluster()>;
  std::string Show(const Look& look);

 private:
  std::mutex mutex_;
  std::string page_;
  double drawn_at_ = 0, drawn_seconds_ = 0;
};

}  // namespace weft::program
