#include <utility>

#include "operator/base/seeded_bug.h"
#include "operator/controllers/planner.h"

// What the Planner keeps of those who ask for nodes.
namespace weft::controllers {

void Planner::Enqueue(const api::TrainingJob& job) {
  const std::lock_guard lock(mutex_);
  if (!asked_.insert(job.meta.uid).second) {
    const auto refusal = refusals_.find(job.meta.uid);
    if (refusal == refusals_.end() || refusal->second.generation == job.meta.generation) return;
  }
  asked_anew_ = true;
  changed_->NotifyAll();
}

void Planner::Enqueue(const std::string& reservation, std::vector<api::Placement> placements) {
  const std::lock_guard lock(mutex_);
  const bool anew = queued_.insert_or_assign(reservation, std::move(placements)).second;
  if (!anew) return;
  asked_anew_ = true;
  changed_->NotifyAll();
}

void Planner::Drop(const std::string& uid) {
  const std::lock_guard lock(mutex_);
  asked_.erase(uid);
  queued_.erase(uid);
  refusals_.erase(uid);
  unwritten_.erase(uid);
  previous_.erase(uid);
}

void Planner::Withdraw(const std::string& workload_uid) {
  const std::string start = workload_uid + life::kReservationMark;
  const auto of_it = [&](const auto& one) { return one.first.starts_with(start); };
  const std::lock_guard lock(mutex_);
  std::erase_if(queued_, of_it);
  std::erase_if(refusals_, of_it);
  std::erase_if(unwritten_, of_it);
}

std::set<std::string> Planner::Requesters() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> all = asked_;
  for (const auto& [id, placements] : queued_) all.insert(id);
  for (const auto& [id, refusal] : refusals_) all.insert(id);
  for (const auto& [id, failed] : unwritten_) all.insert(id);
  for (const auto& [id, nodes] : previous_) all.insert(id);
  return all;
}

void Planner::StorePrevious(const std::string& uid, const std::vector<std::string>& nodes) {
  const std::lock_guard lock(mutex_);
  previous_[uid] = nodes;
}

std::vector<std::string> Planner::PreviousOf(const std::string& uid) const {
  const std::lock_guard lock(mutex_);
  const auto found = previous_.find(uid);
  return found == previous_.end() ? std::vector<std::string>{} : found->second;
}

std::optional<Refusal> Planner::RefusalOf(const api::TrainingJob& job) const {
  const std::lock_guard lock(mutex_);
  const auto refusal = refusals_.find(job.meta.uid);
  if (refusal == refusals_.end()) return std::nullopt;
  if (refusal->second.generation != job.meta.generation) return std::nullopt;
  return refusal->second.refusal;
}

std::optional<Refusal> Planner::RefusalOf(const std::string& reservation) const {
  const std::lock_guard lock(mutex_);
  const auto refusal = refusals_.find(reservation);
  if (refusal == refusals_.end()) return std::nullopt;
  return refusal->second.refusal;
}

void Planner::SeeExcluded(const std::string& uid, const std::vector<api::ExcludedNode>& excluded) {
  const std::lock_guard lock(mutex_);
  if (excluded.empty() && exclusions_.empty()) return;
  exclusions_.See(uid, excluded, options_.now(), UidOfNode());
}

// Removes the nodes that were made again since they were excluded.
void Planner::DropMadeAgain(const std::string& uid, std::vector<api::ExcludedNode>& excluded) {
  const std::lock_guard lock(mutex_);
  exclusions_.DropMadeAgain(uid, UidOfNode(), excluded);
}

life::ExclusionMemory::UidOf Planner::UidOfNode() const {
  return [this](const std::string& name) {
    const auto node = store_.At<api::Node>({"", name});
    return node ? node->meta.uid : std::string();
  };
}

std::pair<std::set<std::string>, Planner::NodeRequests> Planner::Requests() const {
  const std::lock_guard lock(mutex_);
  return {asked_, queued_};
}

// Drops requests of jobs and refusals of Placements that no longer exist. `asked` was read before
// `known`, so requests made since then are kept.
void Planner::DropStale(const std::set<std::string>& asked, const std::set<std::string>& known) {
  const std::lock_guard lock(mutex_);
  for (const std::string& uid : asked) {
    if (!known.contains(uid)) asked_.erase(uid);
  }
  const auto is_stale = [&](const auto& one) {
    return !known.contains(one.first) && !asked_.contains(one.first) &&
           !queued_.contains(one.first);
  };
  std::erase_if(refusals_, is_stale);
  std::erase_if(unwritten_, is_stale);
  exclusions_.DropEnded(options_.now());
}

// Drops requests whose Workload is gone or has lost that reservation: nobody else withdraws them if
// the Workload went between two of its reconciles. `asked` was read before the store, which had the
// reservation when it was enqueued.
void Planner::DropLostReservations(NodeRequests& asked) {
  if (Seeded(Bug::kLostReservation)) return;
  std::erase_if(asked, [&](const auto& one) {
    const auto& [reservation, placements] = one;
    if (!placements.empty()) {
      const api::ObjectMeta& meta = placements.front().meta;
      const auto workload = store_.At<api::Workload>({meta.key.space, meta.owners.front().name});
      if (workload && life::ReservationOf(*workload) == reservation) return false;
    }
    Drop(reservation);
    return true;
  });
}

}  // namespace weft::controllers
