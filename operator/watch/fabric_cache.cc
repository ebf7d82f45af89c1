#include "operator/watch/fabric_cache.h"

#include <utility>

#include "operator/base/check.h"

namespace weft::watch {

std::shared_ptr<const cluster::Fabrics> FabricCache::Of(const Store::Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  if (!fabrics_ || of_ != snapshot.fabrics) {
    // There are no errors here: a Fabric that cannot be built is left out.
    auto built = cluster::BuildFabrics(snapshot.inputs, cluster::OnBadFabric::kSetAside);
    WEFT_CHECK(built.has_value());
    fabrics_ = std::make_shared<const cluster::Fabrics>(*std::move(built));
    of_ = snapshot.fabrics;
  }
  return fabrics_;
}

std::shared_ptr<const cluster::Fabrics> FabricCache::Latest() const {
  const std::lock_guard lock(mutex_);
  return fabrics_;
}

}  // namespace weft::watch
