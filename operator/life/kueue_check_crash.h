#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/api/kueue.h"
#include "operator/life/kueue_check_step.h"
#include "operator/plan/solver_crash.h"

namespace weft::life {

// Crashes of the solver on a Workload of Kueue. Of the status of another's Workload the operator
// may write only its admission checks, so the record is the sentence that ends the message of its
// entry. Every later answer Pending keeps it. Kueue drops it with the reservation.

// The message with the sentence that ends the messages of the entries, if there is one.
std::string AppendCrash(const std::vector<const api::AdmissionCheckState*>& entries,
                        std::string message);
// The record as the condition that a Placement of the Workload would have; none if there is none.
std::vector<api::Condition> CrashConditions(
    const std::vector<const api::AdmissionCheckState*>& entries);
// Whether the entries say that the solver of this version ("": of any) crashed twice.
bool RefusedForCrash(const std::vector<const api::AdmissionCheckState*>& entries,
                     std::string_view version);

// The answer of a process that crashed on the Workload: the state stays, and the sentence is added.
// After the second crash, of which kind ever, the next leader's planner refuses the Workload, so it
// is Rejected; the planner remembers the refusal (plan/crashed_kinds.h), because Kueue drops the
// message then. An admitted Workload stays Ready, because its pods may run: it only gets no other
// nodes. `checks`: Weft's, that the Workload names.
AnswerCheck AnswerCrash(const api::Workload& workload,
                        const std::vector<const api::AdmissionCheck*>& checks,
                        const plan::SolverCrash& crash, UnixSeconds now);

}  // namespace weft::life
