#pragma once

#include "operator/manager/crash_guard.h"
#include "operator/manager/operator_flags.h"

namespace weft::manager {

// The fresh process after a crash of the solver (crash_guard.h): records the crash in the object's
// status, says so in the log and in the container's termination message, and returns the exit code
// of a process that the signal ended, 128 + signal. Takes at most ten seconds.
//
// It writes without holding the Lease, which the crashed process may have held: the write names the
// object's uid and resourceVersion, and is right whoever leads now. With --read-only it writes
// nothing.
int RunCrashReport(const OperatorFlags& flags, const ReportedCrash& crash);

}  // namespace weft::manager
