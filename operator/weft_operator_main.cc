#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "operator/manager/operator_flags.h"
#include "operator/manager/run_operator.h"

int main(int argc, char** argv) {
#ifdef WEFT_SEEDED_BUGS
  if (const char* bug = std::getenv("WEFT_SEEDED_BUG")) {
    weft::planted_bug = static_cast<weft::Bug>(std::atoi(bug));
  }
#endif
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = weft::manager::ParseOperatorFlags(arguments);
  if (!parsed.flags) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  return weft::manager::RunOperator(*parsed.flags);
}
