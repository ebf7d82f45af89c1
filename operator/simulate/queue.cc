#include "operator/simulate/queue.h"

#include <array>
#include <limits>
#include <utility>

namespace weft::simulate {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

constexpr std::array<std::string_view, 3> kOrders = {"priority", "age", "shortest"};
constexpr std::array<std::string_view, 3> kBackfills = {"reserve", "any", "none"};

template <typename Value, typename Names>
std::optional<Value> Find(const Names& names, std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<Value>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view QueueOrderName(QueueOrder order) {
  return kOrders[static_cast<std::size_t>(order)];
}
std::optional<QueueOrder> FindQueueOrder(std::string_view name) {
  return Find<QueueOrder>(kOrders, name);
}
std::string_view BackfillName(Backfill backfill) {
  return kBackfills[static_cast<std::size_t>(backfill)];
}
std::optional<Backfill> FindBackfill(std::string_view name) {
  return Find<Backfill>(kBackfills, name);
}

Queue::Queue(const Scenario& scenario, QueueOrder order)
    : scenario_(scenario), order_(order), shapes_(scenario.shapes.size()) {}

Turn Queue::TurnOf(JobIndex index) const {
  const Job& job = scenario_.jobs[index];
  switch (order_) {
    case QueueOrder::kPriority:
      return {-job.priority, job.arrival, index};
    case QueueOrder::kAge:
      return {0, job.arrival, index};
    case QueueOrder::kShortest:
      return {job.expected_seconds.value_or(kUnknown), job.arrival, index};
  }
  return {0, job.arrival, index};
}

void Queue::Push(JobIndex index) {
  const Job& job = scenario_.jobs[index];
  OfShape& shape = shapes_[job.shape];
  shape.waiting.insert(TurnOf(index));
  shape.estimates.insert(job.expected_seconds.value_or(kUnknown));
  waiting_shapes_.insert(job.shape);
  ++size_;
  gpus_ += scenario_.shapes[job.shape].gpus;
}

void Queue::Erase(JobIndex index) {
  const Job& job = scenario_.jobs[index];
  OfShape& shape = shapes_[job.shape];
  shape.waiting.erase(TurnOf(index));
  shape.estimates.erase(shape.estimates.find(job.expected_seconds.value_or(kUnknown)));
  if (shape.waiting.empty()) waiting_shapes_.erase(job.shape);
  patient_.erase(TurnOf(index));
  --size_;
  gpus_ -= scenario_.shapes[job.shape].gpus;
}

void Queue::SetPatient(JobIndex job) { patient_.insert(TurnOf(job)); }

void Queue::Close(std::uint32_t shape) { shapes_[shape].closed = true; }

void Queue::OpenAll() {
  for (OfShape& shape : shapes_) shape.closed = false;
}

std::span<const std::uint32_t> Queue::open() {
  open_.clear();
  for (const std::uint32_t shape : waiting_shapes_) {
    if (!shapes_[shape].closed) open_.push_back(shape);
  }
  return open_;
}

std::optional<Turn> Queue::NextShorter(std::uint32_t shape, const Turn& after,
                                       std::int64_t seconds) const {
  const OfShape& one = shapes_[shape];
  if (one.estimates.empty() || *one.estimates.begin() > seconds) return std::nullopt;
  for (auto at = one.waiting.upper_bound(after); at != one.waiting.end(); ++at) {
    const auto& expected = scenario_.jobs[at->job].expected_seconds;
    if (expected && *expected <= seconds) return *at;
  }
  return std::nullopt;
}

std::optional<Turn> Queue::Front() const {
  std::optional<Turn> front;
  for (const std::uint32_t shape : waiting_shapes_) {
    const Turn& first = *shapes_[shape].waiting.begin();
    if (!front || first < *front) front = first;
  }
  return front;
}

}  // namespace weft::simulate
