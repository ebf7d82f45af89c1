#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operator/decide/solver_crash.h"
#include "operator/life/check.h"

namespace weft::life {

// Crashes of the solver on a Workload of Kueue. Of the status of another's Workload the operator
// may write only its admission checks, so the record is the sentence that ends the message of its
// entry. Every later answer Pending keeps it. Kueue drops it with the reservation.

// The message with the sentence that ends the messages of the entries, if there is one.
std::string KeepCrash(const std::vector<const api::CheckState*>& entries, std::string message);
// Whether the entries say that the solver of this version ("": of any) crashed twice.
bool RefusedForCrash(const std::vector<const api::CheckState*>& entries, std::string_view version);

// The answer of a process that crashed while it chose nodes for the Workload. After the first crash
// the state stays and the sentence is added; after the second it is Rejected, and Kueue deactivates
// the Workload. An admitted Workload stays Ready, because its pods may run: it only gets no other
// nodes. `checks`: Weft's, that the Workload names.
AnswerCheck AnswerCrash(const api::Workload& workload,
                        const std::vector<const api::AdmissionCheck*>& checks,
                        const decide::SolverCrash& crash);

}  // namespace weft::life
