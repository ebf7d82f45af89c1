#pragma once

#include "operator/life/job_step.h"

namespace weft::life {

// The writes of a job's Workload, as JSON merge patches. They set only lists, plain values and
// null, which a patch replaces whole. Those of the status contain all conditions, so they are valid
// only for this state of the Workload (resourceVersion).

// After an eviction, when the last pod is gone: gives the quota back and queues the job again, as
// Kueue's own integrations do (one patch, because Kueue refuses reserved quota without an
// assignment).
// Source  kubernetes-sigs/kueue 0.19, pkg/controller/jobframework/reconciler.go and
//         UnsetQuotaReservationWithCondition in pkg/workload/workload.go.
WriteWorkload ReleaseQuota(const api::Workload& workload, UnixSeconds now);

// Of a Workload without quota: PodsReady says nothing of an earlier admission any more. Kueue would
// count the time to recover (waitForPodsReady.recoveryTimeout) from then on, and evict the Workload
// as soon as it is admitted again, for ever. Nothing if it says nothing of one.
// Source  as above, generatePodsReadyCondition; admittedNotReadyWorkload in
//         pkg/controller/core/workload_controller.go.
std::optional<WriteWorkload> ForgetPodsReady(const api::Workload& workload, UnixSeconds now);

// The condition PodsReady, without which Kueue evicts an admitted Workload after a time. Nothing if
// it says so already.
std::optional<WriteWorkload> PatchPodsReady(const api::Workload& workload, bool ready,
                                            UnixSeconds now);

// The condition Finished; the quota is free from then on.
WriteWorkload PatchFinished(const api::Workload& workload, bool succeeded, const std::string& why,
                            UnixSeconds now);

WriteWorkload RemoveWorkloadFinalizer(const api::Workload& workload);
WriteWorkload MoveToQueue(const api::Workload& workload, const std::string& queue);
// spec.active=false: Kueue evicts the Workload and queues it no more.
WriteWorkload Deactivate(const api::Workload& workload);

}  // namespace weft::life
