#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/plan/solver_crash.h"

namespace weft::manager {

// What happens when the solver crashes: SIGSEGV, SIGBUS, SIGFPE, SIGILL, or SIGABRT of a broken
// invariant. A C++ program cannot go on after that, and in the dying process only few calls are
// safe. So the handler replaces the process by a fresh one of the same program, which reports the
// crash (RunCrashReport) and ends: execve needs no memory, keeps the process id that a container
// runtime waits for, and ends all other threads. It runs on a stack of its own, since the crash may
// be a stack overflow. If no workload is being decided in the crashing thread, or if execve fails,
// the signal does what it does without a handler.
//
// Lack of memory (std::bad_alloc) that ends the process is nobody's fault: no workload is named
// then.
//
// How the arguments look: PROGRAM report-crash KIND NAMESPACE NAME UID GENERATION SOLVING SIGNAL
// and the arguments that the process was started with. SOLVING: nodes or figures.

inline constexpr const char* kReportCrash = "report-crash";

// Installs the handler, once, before other threads start. `argv` is main's and ends with null.
void GuardAgainstCrashes(char** argv, const char* program = "/proc/self/exe");

// Names the workload that the calling thread works on now; null: none. A plan::Deciding.
void NameWorkload(const cluster::WorkloadView* workload,
                  plan::Solving solving = plan::Solving::kNodes);

// The crash in the arguments of the fresh process, and the process's own arguments.
struct ReportedCrash {
  plan::CrashSubject subject;
  plan::Solving solving = plan::Solving::kNodes;
  int signal = 0;
  std::vector<std::string> arguments;
};
// Nothing if the arguments do not begin with kReportCrash. Points into static texts only.
std::optional<ReportedCrash> ParseCrash(const std::vector<std::string>& arguments);

}  // namespace weft::manager
