#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/refusal.h"
#include "operator/base/timestamp.h"
#include "operator/cluster/workload.h"

namespace weft::plan {

// Crashes of the solver, recorded in the status of the object that it worked on. The next leader
// would decide that object again and crash too; after the second crash it is refused instead,
// without asking the solver, and all others go on.

// The condition SolverFailed (api/conditions.h) is False after one crash and True after two. It is
// a condition of its own, because refusals between two crashes overwrite Placed. The refusal counts
// for its observedGeneration and for the version that its message names, so a changed spec and
// another version are tried afresh. The number of crashes, in the message too, counts for all
// generations: see PauseAfter.
inline constexpr std::string_view kSolverCrashed = "SolverCrashed";  // its reason when False

// What the solver works on: the choice of nodes, or figures that no decision needs (Placed::best,
// Placed::predicted, those of running workloads).
enum class Solving : std::uint8_t { kNodes, kFigures };

// Called with the workload before each such work, and with null after the last one, so that a crash
// in between can be told from others; may be null. An exception leaves the workload named.
using Deciding = std::function<void(const cluster::WorkloadView* workload, Solving solving)>;

struct SolverCrash {
  std::string version;  // of the operator
  int signal = 0;
  Solving solving = Solving::kNodes;
};

// How often, and when last.
struct CrashCount {
  bool again = false;        // the last two of the same spec
  std::int64_t crashes = 1;  // of this version on this object, whatever its spec was
  UnixSeconds last = 0;
};

// How long after a crash the object is not tried again, so that a spec that changes all the time
// does not end leaders all the time: not at all after two crashes, one minute after the third,
// then twice as long each time, up to an hour.
std::int64_t PauseAfter(std::int64_t crashes);

// The sentence of a record: "weft-operator 0.1.0 crashed with signal 11 while ...".
std::string CrashText(const SolverCrash& crash, const CrashCount& count);
// The last such sentence of a text, which ends with it; nothing if there is none.
struct CrashRecord {
  std::string version;
  Solving solving = Solving::kNodes;
  CrashCount count;
  std::string sentence;
};
std::optional<CrashRecord> ReadCrash(std::string_view text);
// The count after one more crash.
CrashCount CountCrash(const std::optional<CrashRecord>& before, bool same_spec,
                      const SolverCrash& crash, UnixSeconds now);

// Adds a crash on that generation to the object's conditions.
void RecordCrash(std::vector<api::Condition>& conditions, std::int64_t generation,
                 const SolverCrash& crash, UnixSeconds now);

// Who asks whether the solver may be asked.
struct CrashQuestion {
  std::string version = {};  // "": any version's crashes count
  UnixSeconds now = 0;       // 0: every pause is over
  bool wary = false;         // one crash of the spec is enough
};
// Why the solver must not be asked for nodes of the object; nothing if it may be asked.
std::optional<Refusal> RefusalFor(const std::vector<api::Condition>& conditions,
                                  std::int64_t generation, const CrashQuestion& asks);
// The same of a workload's object.
std::optional<Refusal> RefusalFor(const cluster::Cluster& cluster,
                                  const cluster::WorkloadView& workload, const CrashQuestion& asks);
// Whether a crash of the version ("": any) on figures of the workload's spec is recorded.
bool CrashedOnFigures(const cluster::Cluster& cluster, const cluster::WorkloadView& workload,
                      std::string_view version);

// The object that records a crash of the solver on a workload: the workload itself, or the Workload
// of Kueue that controls it, because a Placement of a Workload may not exist yet.
struct CrashSubject {
  std::string_view kind;  // TrainingJob, Placement, Workload
  api::ObjectKey key;
  std::string uid;              // "": the object is not in the cluster, and nothing can be recorded
  std::int64_t generation = 0;  // 0: not known
};
CrashSubject SubjectOf(const cluster::WorkloadView& workload, Solving solving = Solving::kNodes);

}  // namespace weft::plan
