#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "operator/manager/crash_guard.h"
#include "operator/manager/crash_report.h"
#include "operator/manager/operator_flags.h"
#include "operator/manager/run_operator.h"

int main(int argc, char** argv) {
#ifdef WEFT_SEEDED_BUGS
  if (const char* bug = std::getenv("WEFT_SEEDED_BUG")) {
    weft::planted_bug = static_cast<weft::Bug>(std::atoi(bug));
  }
#endif
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto crash = weft::manager::ParseCrash(arguments);
  const auto parsed = weft::manager::ParseOperatorFlags(crash ? crash->arguments : arguments);
  if (!parsed.flags) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  if (crash) return weft::manager::RunCrashReport(*parsed.flags, *crash);
  weft::manager::GuardAgainstCrashes(argv);
  return weft::manager::RunOperator(*parsed.flags);
}
