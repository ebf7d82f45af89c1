#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/api/meta.h"
#include "operator/base/timestamp.h"
#include "operator/decide/workload.h"

namespace weft::decide {

// Crashes of the solver, recorded in the status of the object that it chose nodes for. The next
// leader would decide that object again and crash too; after the second crash it is refused
// instead, without asking the solver, and all others go on.

// Condition of a TrainingJob or Placement, and of its Placed=False the reason. False: the solver
// crashed once and tries again; True: it crashed twice. A condition of its own, because refusals
// between two crashes overwrite Placed. The record counts for its observedGeneration and for the
// version that its message names, so a changed spec and another version are tried afresh.
inline constexpr std::string_view kSolverFailed = "SolverFailed";
inline constexpr std::string_view kSolverCrashed = "SolverCrashed";  // its reason when False

struct SolverCrash {
  std::string version;  // of the operator
  int signal = 0;
};

// The sentence of a record: "weft-operator 0.1.0 crashed with signal 11 while ...".
std::string CrashText(const SolverCrash& crash, bool again);
// The last such sentence of a text, which ends with it; nothing if there is none.
struct CrashRecord {
  std::string version;
  bool again = false;  // it crashed twice
  std::string sentence;
};
std::optional<CrashRecord> ReadCrash(std::string_view text);

// Adds a crash to the conditions of an object of that generation.
void RecordCrash(std::vector<api::Condition>& conditions, std::int64_t generation,
                 const SolverCrash& crash, UnixSeconds now);
// Why the solver must not be asked about the object: the sentence of a second crash of this version
// ("": of any version); nothing if it may be asked.
std::optional<std::string> CrashRefusal(const std::vector<api::Condition>& conditions,
                                        std::int64_t generation, std::string_view version);

// The same of a workload's object.
std::optional<std::string> CrashRefusalOf(const Cluster& cluster, const Workload& workload,
                                          std::string_view version);

// The object that records a crash of the solver on a workload: the workload itself, or the Workload
// of Kueue that controls it, because a Placement of a Workload may not exist yet.
struct CrashSubject {
  std::string_view kind;  // TrainingJob, Placement, Workload
  api::ObjectKey key;
  std::string uid;              // "": the object is not in the cluster, and nothing can be recorded
  std::int64_t generation = 0;  // 0: not known
};
CrashSubject SubjectOf(const Workload& workload);

}  // namespace weft::decide
