#include "operator/metrics/process.h"

#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace weft::metrics {
namespace {

// Fields of /proc/self/stat after the name in brackets, which may contain any characters; proc(5)
// numbers them from 3.
struct Stat {
  double user_ticks = 0, system_ticks = 0, start_ticks = 0, resident_pages = 0;
};

Stat ReadStat() {
  std::ifstream file("/proc/self/stat");
  std::string text(std::istreambuf_iterator<char>(file), {});
  const std::size_t end = text.rfind(')');
  Stat stat;
  if (end == std::string::npos) return stat;
  std::istringstream fields(text.substr(end + 1));
  std::string field;
  for (int number = 3; fields >> field; ++number) {
    const double value = number == 3 ? 0 : std::stod(field);
    if (number == 14) stat.user_ticks = value;
    if (number == 15) stat.system_ticks = value;
    if (number == 22) stat.start_ticks = value;
    if (number == 24) stat.resident_pages = value;
  }
  return stat;
}

// When the machine started, in seconds since the epoch.
double BootTime() {
  std::ifstream file("/proc/stat");
  for (std::string word; file >> word;) {
    double value = 0;
    if (word == "btime" && file >> value) return value;
  }
  return 0;
}

}  // namespace

void MeasureProcess(Samples& samples) {
  const Stat stat = ReadStat();
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  samples.Add(Id::kProcessCpu, {}, (stat.user_ticks + stat.system_ticks) / ticks);
  samples.Add(Id::kProcessMemory, {},
              stat.resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE)));
  std::error_code failed;
  const std::filesystem::directory_iterator files("/proc/self/fd", failed);
  if (!failed) {
    samples.Add(Id::kProcessFiles, {},
                static_cast<double>(std::distance(begin(files), end(files))));
  }
  samples.Add(Id::kProcessStart, {}, BootTime() + stat.start_ticks / ticks);
}

}  // namespace weft::metrics
