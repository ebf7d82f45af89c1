#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "operator/watch/store.h"

namespace weft::watch {

// The fabrics of the store's latest snapshot; rebuilt only if a Node or Fabric has changed.
// Thread-safety  all calls may run at once.
class FabricCache {
 public:
  std::shared_ptr<const cluster::Fabrics> Of(const Store::Snapshot& snapshot);
  // The fabrics of the last snapshot that was requested; null before the first.
  std::shared_ptr<const cluster::Fabrics> Latest() const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const cluster::Fabrics> fabrics_;
  std::uint64_t of_ = 0;  // the snapshot that they are built from
};

}  // namespace weft::watch
