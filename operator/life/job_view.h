#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/training_job.h"
#include "operator/base/refusal.h"
#include "operator/base/seeded_bug.h"
#include "operator/base/timestamp.h"
#include "operator/base/worker_index.h"
#include "operator/life/bind_window.h"
#include "operator/life/checkpoint_advice.h"
#include "operator/life/node_state.h"

namespace weft::life {

inline constexpr const char* kFinalizer = "weft.dev/claims";

// Limits of a job's life that the operator's administrator sets.
struct LifeOptions {
  std::int64_t bind_deadline_seconds = 60;  // from the last pod's creation to all pods bound
  std::int64_t node_loss_seconds = 60;      // a node not Ready for so long is lost
  // So long after a node's loss the cluster has reported it: kube-controller-manager's
  // --node-monitor-grace-period (50 s) and --node-monitor-period (5 s), slow watches and clocks
  // that differ.
  std::int64_t node_news_seconds = 75;
  bool verify_image = false;  // every pod gets an init container that reports
};

// What Kueue says of one job (kueue_quota.h).
struct QueueView {
  bool synced = true;                           // Kueue's kinds have been listed completely
  std::vector<const api::Workload*> workloads;  // controlled by the job's uid
  std::function<const api::ResourceFlavor*(const std::string&)> flavor;  // null: does not exist
  std::function<bool(const std::string&)> is_ours;  // whether Weft answers the AdmissionCheck
};

// Whether the pod's programs have ended with 0, and not because the pod was deleted.
inline bool HasSucceeded(const api::Pod& pod) {
  return pod.phase == api::PodPhase::kSucceeded &&
         (!pod.meta.deleting || Seeded(Bug::kEndSucceeds));
}

// One job and all its objects in the API server. Points into a snapshot.
struct JobView {
  const api::TrainingJob* job = nullptr;
  std::vector<const api::Placement*> placements;  // owned by the job's uid
  std::vector<const api::Pod*> pods;              // owned by the job's uid, and labelled with it
  bool service = false;                           // the Service <job> exists for this attempt
  std::int64_t service_pause = 0;  // seconds until it may be tried again after a refusal
  NodeStates node_state;
  GangGroup group;  // of the attempt's pods
  // Of the job's next attempt, from the latest plan that included this job.
  std::optional<Refusal> refusal;
  UnixSeconds now = 0;
  UnixSeconds counted = 0;  // when status.workers was last written
  UnixSeconds tried = 0;    // when the last dry run of worker 0 was made
  UnixSeconds refused = 0;  // since when this leader has seen them refused, in a row; 0: never
  // Since when kubelets have said something else than the condition PodsReady (start_telling.h); 0:
  // they say the same.
  UnixSeconds start_differs = 0;
  // Whether this leader has seen the worker's pod in the current attempt, and whether that had
  // succeeded (HasSucceeded). Empty: of none.
  ByWorker<bool> seen, succeeded;
  // When an object of the attempt was last created; at least the time when this leader began.
  UnixSeconds created = 0;
  // The message of a successful dry run until it is in the status. It is not written alone but with
  // the next write.
  std::optional<std::string> valid;
  std::vector<DomainRate> rates;   // of the Fabric that the attempt is placed on
  std::optional<QueueView> queue;  // nothing: the operator runs without --kueue
};

}  // namespace weft::life
