#include <cstdio>
#include <string>
#include <vector>

#include "operator/cli/operator_flags.h"
#include "operator/cli/run_operator.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto parsed = weft::cli::ParseOperatorFlags(arguments);
  if (!parsed.flags) {
    std::fputs(parsed.text.c_str(), parsed.exit_code == 0 ? stdout : stderr);
    return parsed.exit_code;
  }
  return weft::cli::RunOperator(*parsed.flags);
}
