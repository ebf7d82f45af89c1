#pragma once

#include <string>
#include <variant>
#include <vector>

#include "operator/parent/settings.h"

namespace weft::parent {

// The program ends at once with this text and code: help, or what is wrong with the arguments.
struct EndAtOnce {
  std::string text;
  int code = 0;
};

// EX_USAGE of sysexits.h.
inline constexpr int kUsageCode = 64;

// Reads the arguments, without the program's name, and the environment: for each option there is a
// variable WEFT_RUN_..., and for workers, rank, port and worker 0's name also those that Weft gives
// its workers (WEFT_WORKERS, WEFT_WORKER_INDEX, WEFT_MASTER_PORT, WEFT_MASTER_ADDR).
std::variant<Settings, EndAtOnce> ReadCommandLine(const std::vector<std::string>& arguments);

}  // namespace weft::parent
