#include "operator/controllers/placement_log.h"

#include <utility>

namespace weft::controllers {

void PlacementLog::Put(std::shared_ptr<const api::Placement> placement) {
  const api::ObjectKey key = placement->meta.key;
  if (placement->nodes.empty()) return Remove(key);
  const std::lock_guard lock(mutex_);
  if (const auto last = latest_.find(key); last != latest_.end()) {
    const auto& stands = changes_.at(last->second).placement;
    if (stands && stands->meta.uid == placement->meta.uid &&
        stands->meta.resource_version == placement->meta.resource_version) {
      return;
    }
  }
  Append(key, std::move(placement));
}

void PlacementLog::Remove(const api::ObjectKey& key) {
  const std::lock_guard lock(mutex_);
  const auto last = latest_.find(key);
  if (last == latest_.end() || gone_.contains(last->second)) return;
  Append(key, nullptr);
}

void PlacementLog::Append(const api::ObjectKey& key,
                          std::shared_ptr<const api::Placement> placement) {
  const std::uint64_t number = ++number_;
  const auto [last, is_new] = latest_.try_emplace(key, number);
  if (!is_new) {
    changes_.erase(last->second);
    gone_.erase(last->second);
    last->second = number;
  }
  if (!placement) gone_.insert(number);
  changes_.emplace(number, Change{number, key, std::move(placement)});
  if (gone_.size() > kept_) DropOldestGone();
  changed_->NotifyAll();
}

// Drops the oldest change whose Placement is gone.
void PlacementLog::DropOldestGone() {
  forgotten_ = *gone_.begin();
  gone_.erase(gone_.begin());
  const auto change = changes_.find(forgotten_);
  latest_.erase(change->second.key);
  changes_.erase(change);
}

PlacementLog::Standing PlacementLog::All() const {
  const std::lock_guard lock(mutex_);
  Standing all;
  all.number = number_;
  for (const auto& [key, number] : latest_) {
    if (const auto& placement = changes_.at(number).placement) all.placements.push_back(placement);
  }
  return all;
}

std::optional<std::vector<PlacementLog::Change>> PlacementLog::After(
    std::uint64_t number, std::chrono::milliseconds patience) const {
  std::unique_lock lock(mutex_);
  if (number > number_) return std::nullopt;
  changed_->WaitFor(lock, patience, [&] { return number_ > number; });
  if (number < forgotten_) return std::nullopt;
  std::vector<Change> after;
  for (auto at = changes_.upper_bound(number); at != changes_.end(); ++at) {
    after.push_back(at->second);
  }
  return after;
}

}  // namespace weft::controllers
