#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "operator/simulate/scenario.h"

namespace weft::simulate {

// In which order waiting jobs are tried.
enum class QueueOrder : std::uint8_t {
  kPriority,  // the operator's: highest priority first, then the oldest
  kAge,       // the oldest first
  kShortest,  // the shortest by its estimate first, without one last, then the oldest
};
std::string_view QueueOrderName(QueueOrder order);  // "priority", "age", "shortest"
std::optional<QueueOrder> FindQueueOrder(std::string_view name);

// When a job may start before one that waits ahead of it.
enum class Backfill : std::uint8_t {
  kReserve,  // the operator's: any job that fits, until one has waited kReserveSeconds; nodes are
             // then reserved for that one, and jobs that end before it needs them may use them
  kAny,      // any job that fits
  kNone,     // never
};
std::string_view BackfillName(Backfill backfill);  // "reserve", "any", "none"
std::optional<Backfill> FindBackfill(std::string_view name);

using JobIndex = std::uint32_t;  // into Scenario::jobs

// A job's place in the queue.
struct Turn {
  std::int64_t first = 0;
  Micros arrival = 0;
  JobIndex job = 0;

  friend auto operator<=>(const Turn&, const Turn&) = default;
};

// The jobs that wait, by shape. A shape is closed after a refusal on all free capacity: no job of
// it fits before capacity is released, because a job's shape alone says where it fits.
class Queue {
 public:
  Queue(const Scenario& scenario, QueueOrder order);

  Turn TurnOf(JobIndex job) const;
  void Push(JobIndex job);
  void Erase(JobIndex job);
  // The job counts as one that has waited long enough for a reservation.
  void SetPatient(JobIndex job);

  std::size_t size() const { return size_; }
  std::int64_t gpus() const { return gpus_; }
  const std::set<Turn>& of_shape(std::uint32_t shape) const { return shapes_[shape].waiting; }
  const std::set<Turn>& patient() const { return patient_; }

  bool closed(std::uint32_t shape) const { return shapes_[shape].closed; }
  void Close(std::uint32_t shape);
  void OpenAll();
  // Shapes that are open and have a waiting job.
  std::span<const std::uint32_t> open();

  // The first job of the shape after `after` whose estimate is at most so many seconds.
  std::optional<Turn> NextShorter(std::uint32_t shape, const Turn& after,
                                  std::int64_t seconds) const;
  // The first waiting job of all.
  std::optional<Turn> Front() const;

 private:
  struct OfShape {
    std::set<Turn> waiting;
    std::multiset<std::int64_t> estimates;
    bool closed = false;
  };
  const Scenario& scenario_;
  QueueOrder order_;
  std::vector<OfShape> shapes_;
  std::set<Turn> patient_;
  std::set<std::uint32_t> waiting_shapes_;
  std::vector<std::uint32_t> open_;
  std::size_t size_ = 0;
  std::int64_t gpus_ = 0;
};

}  // namespace weft::simulate
