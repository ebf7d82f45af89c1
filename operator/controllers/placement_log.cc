#include "operator/controllers/placement_log.h"

#include <utility>

namespace weft::controllers {

void PlacementLog::Put(std::shared_ptr<const api::Placement> placement) {
  const api::ObjectKey key = placement->meta.key;
  if (placement->nodes.empty()) return Remove(key);
  const std::lock_guard lock(mutex_);
  auto& stands = standing_[key];
  if (stands && stands->meta.uid == placement->meta.uid &&
      stands->meta.resource_version == placement->meta.resource_version) {
    return;
  }
  stands = placement;
  Append(key, std::move(placement));
}

void PlacementLog::Remove(const api::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  if (standing_.erase(key) > 0) Append(key, nullptr);
}

void PlacementLog::Append(const api::ObjectKey& key,
                          std::shared_ptr<const api::Placement> placement) {
  changes_.push_back({++number_, key, std::move(placement)});
  if (changes_.size() > kept_) changes_.pop_front();
  changed_.notify_all();
}

PlacementLog::Standing PlacementLog::All() const {
  const std::lock_guard lock(mutex_);
  Standing all;
  all.number = number_;
  for (const auto& [key, placement] : standing_) all.placements.push_back(placement);
  return all;
}

std::optional<std::vector<PlacementLog::Change>> PlacementLog::After(
    std::uint64_t number, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  if (number > number_) return std::nullopt;
  changed_.wait_for(lock, patience, [&] { return number_ > number; });
  const std::uint64_t forgotten = number_ - changes_.size();
  if (number < forgotten) return std::nullopt;
  return std::vector<Change>(changes_.begin() + static_cast<std::ptrdiff_t>(number - forgotten),
                             changes_.end());
}

}  // namespace weft::controllers
