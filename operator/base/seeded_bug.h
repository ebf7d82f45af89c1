#pragma once

namespace weft {

// Bugs that tests plant, one at a time, to prove that each of their checks can fail. They exist
// only in a build with WEFT_SEEDED_BUGS; in other builds Seeded is always false and the compiler
// removes them. tests/faults/seeded.py and tests/world/bugs.py read this list: name, number, and
// what goes wrong. Those from kFirstOfWorld on are planted in tests/world only.
enum class Bug : int {
  kNone = 0,
  kDeleteWithoutUid = 1,      // a delete does not name the uid of its object
  kCommitWithoutVersion = 2,  // a plan is stored without compare-and-swap
  kPodsBeforePlan = 3,        // pods are created before the plan is stored
  kOldPodsKept = 4,           // the next attempt starts beside pods of the last
  kFinalizerEarly = 5,        // the finalizer is removed while pods still run
  kListAtZero = 6,            // lists are read with resourceVersion=0
  kForeignServiceTaken = 7,   // "exists already" counts as created, whoever owns it
  kWritesWithoutLead = 8,     // an operator that is no longer the leader goes on writing
  kBindDeadlineIgnored = 9,   // a partly bound gang stays partly bound
  kRefusedNodeAgain = 10,     // a node that refused a pod is planned at once again
  kHotRefusal = 11,           // a refused job is tried again without a pause
  kCompleteEarly = 12,        // a job is Complete when one worker has succeeded
  kRestartUncounted = 13,     // a restart for a failed program is not counted
  kFailedTriedAgain = 14,     // a job that has failed is started once more
  kSecretTold = 15,           // a condition quotes the template, including its secrets
  kGoneIgnored = 16,          // a watch goes on after 410 without a new list
  kPinnedElsewhere = 17,      // pods are tied to another node than the plan says
  kTemplateChanged = 18,      // pods get the host's network
  kLeak = 19,                 // every deleted job leaks memory
  kClaimsFreedEarly = 20,     // nodes are planned again while pods on them still end
  kMuteRefusal = 21,          // a job that does not fit gets no reason
  kDiesOfOddObject = 22,      // one odd object ends the process
  kLeaseKept = 23,            // the Lease is not released at SIGTERM
  kAttemptBack = 24,          // the count of attempts starts again

  // Mended once.
  kLateDeletion = 101,       // a late deletion removes the next object of that name
  kLostReservation = 102,    // a Workload that is gone keeps its place in the queue
  kUnwrittenAtOnce = 103,    // a placement that cannot be written is tried again without a pause
  kCollectedRestarts = 104,  // a worker that succeeded counts no more when its pod is collected
  kEvictedLast = 105,        // a job that admission refuses keeps its quota when it is evicted
  kOwnerlessPlanned = 106,   // a Placement that names any owner gets nodes
  kPlacementAwaited = 107,   // a gang in creation waits for its Placement, which was deleted
  kQueueMerged = 108,        // of what Kueue assigned, keys that are gone stay
  kOldFailureStays = 109,    // fields of an earlier failure stay in the status
  kOddHidesFigures = 110,    // one annotation that cannot be read hides the figures of all jobs
  kHurriedByEvents = 111,    // an event ends the pause after a refusal
  kStepsNeverSlow = 112,     // a chain of steps that does not end never slows down

  // Of the kinds that operators have.
  kMemoryByName = 121,       // what is remembered of a job counts for the next one of that name
  kFinalizerStays = 122,     // a job that was never placed keeps its finalizer
  kRetryAtOnce = 123,        // what failed is tried again without a pause
  kServiceUnheard = 124,     // a change of a Service wakes nobody
  kCapacityUnheard = 125,    // pods that end wake no job that waits for nodes
  kStaleStatus = 126,        // a status is written whatever the job has become
  kLastWorkerMissing = 127,  // the last worker's pod is not created
  kRequeueForgotten = 128,   // nothing is looked at again after a wait
  kRestartTwice = 129,       // a restart is counted twice
  kUnmadePodsFree = 130,     // nodes of a Placement whose pods are not made yet are given out
  kFrozenWrites = 131,       // a leader that was frozen goes on writing for a moment
  kOldServiceKept = 132,     // the Service of the last attempt stays
  kExcludedForEver = 133,    // an excluded node never comes back
  kResumeSkips = 134,        // a watch that is opened again skips changes
  kGoneStaysListed = 135,    // a new list does not remove what is gone
  kTtlForgotten = 136,       // a finished job is never deleted
  kSuspendedHolds = 137,     // a suspended job keeps its Placement

  // Mended later.
  kFilesGoEarly = 138,   // a Service goes with its deleted job, while workers still end
  kKueuesClock = 139,    // how long quota is held without nodes is measured by Kueue's clock
  kHangs = 140,          // a reconcile never ends
  kTwoSpecs = 141,       // an attempt goes on when the spec is another
  kMadeAgain = 142,      // a pod that goes while others are made is made again
  kUntried = 143,        // a spec that was changed while the job ran gets nodes without a dry run
  kEndSucceeds = 144,    // a pod that ends with 0 because it is deleted has succeeded
  kLateForgotten = 145,  // a pod that arrives after its attempt stays

  // Of PodGroups.
  kPodGroupSmall = 146,     // a PodGroup lets one worker be bound alone
  kGroupBlamesAll = 147,    // where a gang is refused, the nodes of all its workers are excluded
  kPreemptionCut = 148,     // the bind window ends while kube-scheduler preempts for the gang
  kGroupOutlastsAll = 149,  // a deleted PodGroup keeps the finalizer that nobody takes off

  // What the chart does not let the operator do.
  kJobReadAgain = 151,  // a job is read again before its finalizer is added
  kJobLabelled = 152,   // a job gets a label with its finalizer

  // Of workers that wait at their kubelets.
  kWaitUntold = 153,    // why a container waits is told only when the time to start is over
  kEventsUnread = 154,  // a volume that cannot be mounted is told only in the pod's events

  // Of failures.
  kPeersBlamed = 155,  // the programs that die of a lost node are blamed, and count as restarts

  // Of gangs in queues.
  kDoneForgotten = 156,  // a worker that has succeeded counts only as long as its pod is there

  // Of namespaces.
  kOwnerOfAnySpace = 160,  // an owner may be of another namespace than what it owns

  // Mended once, and of which the world has a model since.
  kAdmissionMerged = 161,  // what admission no longer changes in the pods stays in the status
  kFilesStay = 162,        // a job that has ended keeps its Service
  kWriteUntold = 163,      // a refused write of a job that has nodes is told in no condition
};

inline constexpr int kFirstOfWorld = 100;

#ifdef WEFT_SEEDED_BUGS
inline Bug planted_bug = Bug::kNone;  // set by the main program, before any thread
inline bool Seeded(Bug bug) { return planted_bug == bug; }
#else
constexpr bool Seeded(Bug) { return false; }
#endif

}  // namespace weft
