#pragma once

namespace weft {

// Bugs that tests/faults plants, one at a time, to prove that each of its checks can fail. They
// exist only in a build with WEFT_SEEDED_BUGS; in other builds Seeded is always false and the
// compiler removes them. tests/faults/seeded.py reads this list: name, number, and what goes wrong.
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
};

#ifdef WEFT_SEEDED_BUGS
inline Bug planted_bug = Bug::kNone;  // set by the main program, before any thread
inline bool Seeded(Bug bug) { return planted_bug == bug; }
#else
constexpr bool Seeded(Bug) { return false; }
#endif

}  // namespace weft
