#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "operator/api/pod_group.h"
#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/outcome.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// kube-controller-manager takes its finalizer off within seconds; longer than its leaders change.
inline constexpr std::int64_t kGroupGoneWithinSeconds = 60;

// Takes the finalizer off deleted PodGroups of attempts that kube-controller-manager does not
// release, as without the feature gate GenericWorkload: else they and their namespaces would stay
// for ever.
// Thread-safety  all calls may run at once.
class PodGroupRelease {
 public:
  PodGroupRelease(watch::Store& store, ApiWriter& writer, Log& log,
                  std::function<UnixSeconds()> now)
      : store_(store), writer_(writer), log_(log), now_(std::move(now)) {}

  // Looks at one PodGroup after a change.
  // Errors  of the write.
  Result<Outcome> Reconcile(const api::ObjectKey& key);

 private:
  // Seconds until nobody else can be expected to release it.
  std::int64_t LeftOf(const api::PodGroup& group);

  watch::Store& store_;
  ApiWriter& writer_;
  Log& log_;
  const std::function<UnixSeconds()> now_;
  std::mutex mutex_;
  // A deleted group that no pod is in, and since when.
  struct Unused {
    std::string uid;
    UnixSeconds since = 0;
  };
  std::map<api::ObjectKey, Unused> unused_;
};

}  // namespace weft::controllers
