#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "operator/plan/reservation.h"
#include "operator/simulate/policy.h"
#include "operator/simulate/queue.h"
#include "operator/simulate/rooms.h"
#include "operator/simulate/scenario.h"

namespace weft::simulate {

struct DispatchRules {
  Policy policy = Policy::kWeft;
  QueueOrder order = QueueOrder::kPriority;
  Backfill backfill = Backfill::kReserve;
  std::int64_t reserve_seconds = 600;  // as the operator's (controllers/planner.h)
  std::uint64_t seed = 1;
};

// Decides which waiting jobs start, and where: the operator's passes over its queue, on a virtual
// clock and without a store. With the policy weft, the order priority and the backfill reserve, a
// pass starts the jobs that plan::Plan places, on the same nodes; dispatcher_test.cc compares the
// two event by event.
//
// How   A pass would try every waiting job. It skips those whose answer cannot differ from an
//       earlier one: jobs of one shape ask for the same, so after a refusal on all free capacity
//       the shape stays refused until capacity is released; and after a refusal beside a
//       reservation, only the shape's jobs that may use the reserved nodes are tried in that pass.
// Cost  a pass: one search for each job that starts, and for each shape that fits by its count of
//       slots but is refused; O(log jobs) for each shape otherwise.
class Dispatcher {
 public:
  Dispatcher(const Scenario& scenario, const DispatchRules& rules);

  // Whether the policy places the shape if nothing else runs.
  bool EverFits(std::uint32_t shape) const { return ever_[shape] != 0; }

  // `previous`: the nodes of the job's last attempt, which it should get again.
  void Arrive(JobIndex job, ByWorker<fabric::NodeIndex> previous = {});
  // The job has waited for `reserve_seconds` now.
  void SetPatient(JobIndex job, Micros now);
  bool waits(JobIndex job) const { return waiting_[job] != 0; }
  void Release(JobIndex job, Micros now);
  // The node takes no workers until it is opened again; those on it stay.
  void CloseNode(fabric::NodeIndex node);
  void OpenNode(fabric::NodeIndex node);

  // Starts what can start. Returns the jobs in the order of decisions; none if nothing has changed
  // that matters.
  std::span<const JobIndex> Pass(Micros now);

  const ByWorker<fabric::NodeIndex>& nodes(JobIndex job) const { return nodes_[job]; }
  const fabric::Claims& claims() const { return claims_; }
  const Queue& queue() const { return queue_; }
  const std::set<JobIndex>& running() const { return running_; }

 private:
  // A shape as this run asks for it; the names change from job to job.
  struct Asker {
    api::ObjectMeta meta;
    cluster::WorkloadView workload;
    objective::Request request;
    const traffic::WorkerGraph* graph = nullptr;
    bool named = false;  // true: claims carry the job's name
  };
  using Nodes = ByWorker<fabric::NodeIndex>;
  using Next = std::set<std::pair<Turn, std::uint32_t>>;  // with the shape

  Asker& Ask(JobIndex job);
  std::uint32_t ShapeOf(JobIndex job) const { return scenario_.jobs[job].shape; }
  std::optional<Nodes> Place(JobIndex job, const fabric::Claims& claims);
  void Start(JobIndex job, Nodes nodes);
  void PassInOrder();
  void PassAround();
  void Try(const Turn& turn, std::uint32_t shape, Next& next);
  bool TryBesideReservation(const Turn& turn, std::uint32_t shape);
  void PushNext(const Turn& turn, std::uint32_t shape, Next& next) const;
  void ReserveBefore(const Turn& turn);
  void ReserveFor(JobIndex job);
  void NoReservation();
  bool SeatReservation();
  void NoteStart(JobIndex job);
  void NoteRelease(JobIndex job, Micros now);
  std::vector<plan::Ending> Endings() const;
  std::optional<Micros> TimeOf(std::optional<std::int64_t> within_seconds) const;
  bool LeavesRoomFor(JobIndex job) const;
  void UpdateRooms(std::span<const fabric::NodeIndex> nodes);

  const Scenario& scenario_;
  const DispatchRules rules_;
  Placer placer_;
  fabric::Claims claims_;
  Queue queue_;
  std::vector<Asker> askers_;  // by shape
  Rooms rooms_;
  std::vector<std::uint8_t> ever_;     // by shape
  std::vector<std::uint8_t> waiting_;  // by job
  std::vector<Nodes> nodes_;           // by job; empty unless it runs
  std::vector<Micros> started_at_;     // by job
  std::vector<Micros> patient_since_;  // by job
  std::set<JobIndex> running_;
  std::map<JobIndex, Nodes> previous_;           // of waiting jobs that ran before
  std::map<JobIndex, cluster::Holder> holders_;  // running jobs whose claims carry their names
  std::vector<JobIndex> started_;                // of this pass
  Micros now_ = 0;
  bool released_ = true, changed_ = false;
  // The reservation. It outlives the pass: what has happened since tells how much of it a new
  // computation would only repeat.
  struct Kept {
    JobIndex job;
    plan::Reservation reservation;
    std::optional<fabric::Claims> less;  // all claims and the reserved nodes, while those hold
    std::optional<Micros> until;         // when it begins; absent: unknown
    bool time_holds = true, nodes_hold = false;
  };
  std::optional<Kept> kept_;
  bool in_force_ = false;                     // in this pass
  bool seated_ = false;                       // its nodes stay what they are for this pass
  std::optional<Turn> no_reservation_up_to_;  // patient jobs that got none
  std::vector<std::uint8_t> held_;            // by shape: refused beside the reservation
};

}  // namespace weft::simulate
