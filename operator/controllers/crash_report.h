#pragma once

#include <functional>

#include "operator/base/result.h"
#include "operator/base/timestamp.h"
#include "operator/controllers/api_writer.h"
#include "operator/plan/solver_crash.h"

namespace weft::controllers {

// Records a crash of the solver in the status of the object that it chose nodes for
// (plan/solver_crash.h; of a Workload of Kueue life/kueue_check_crash.h). Needs no right beyond
// those of the operator: it reads the object by a patch of its status that changes nothing.
//
// A conflict with another writer and an API server that does not answer are tried again as long as
// `wait_to_retry`, which waits, returns true.
//
// Errors  of the last try. kNotFound: the object is gone or another has its name, so there is
//         nothing to record.
// Cost    two requests for each try, three for a Workload.
Status ReportCrash(ApiWriter& writer, const plan::CrashSubject& subject,
                   const plan::SolverCrash& crash, UnixSeconds now,
                   const std::function<bool()>& wait_to_retry);

}  // namespace weft::controllers
