#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "operator/cluster/cluster.h"
#include "operator/run/clock.h"

namespace weft::program {

// The live map of a watched cluster, as a page that reloads itself. It is drawn at most every two
// seconds, and drawing takes at most a twentieth of the time, for any number of viewers.
// Thread-safety  all calls may run at once.
class MapPage {
 public:
  using Look = std::function<cluster::Cluster()>;
  explicit MapPage(const run::Clock& clock) : clock_(clock) {}
  std::string Show(const Look& look);

 private:
  const run::Clock& clock_;
  std::mutex mutex_;
  std::string page_;
  run::Instant drawn_at_{};
  run::Instant::duration drawing_{};  // took so long
};

}  // namespace weft::program
