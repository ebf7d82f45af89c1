#include "operator/controllers/under_way.h"

#include <chrono>

namespace weft::controllers {

UnderWay::Mark::Mark(UnderWay& all, std::string_view what) : all_(all) {
  const run::Instant now = all.clock_.Now();
  const std::lock_guard lock(all.mutex_);
  place_ = all.begun_.emplace(now, what);
}

UnderWay::Mark::~Mark() {
  const std::lock_guard lock(all_.mutex_);
  all_.begun_.erase(place_);
}

std::optional<UnderWay::Work> UnderWay::Longest() const {
  const run::Instant now = clock_.Now();
  const std::lock_guard lock(mutex_);
  if (begun_.empty()) return std::nullopt;
  const auto& [since, what] = *begun_.begin();
  return Work{what, std::chrono::duration_cast<run::Millis>(now - since)};
}

}  // namespace weft::controllers
