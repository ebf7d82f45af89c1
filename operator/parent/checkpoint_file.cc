#include "operator/parent/checkpoint_file.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>
#include <utility>

namespace weft::parent {
namespace {

constexpr std::chrono::seconds kReadPeriod{5};

}  // namespace

CheckpointFile::CheckpointFile(std::string path)
    : time_(std::make_shared<std::atomic<UnixSeconds>>(0)) {
  if (path.empty()) return;
  std::thread([path = std::move(path), time = time_] {
    while (true) {
      struct stat file {};
      if (stat(path.c_str(), &file) == 0) *time = static_cast<UnixSeconds>(file.st_mtim.tv_sec);
      std::this_thread::sleep_for(kReadPeriod);
    }
  }).detach();  // it may hang in stat for ever, so nobody waits for it
}

std::optional<UnixSeconds> CheckpointFile::Time() const {
  const UnixSeconds time = *time_;
  return time == 0 ? std::nullopt : std::optional<UnixSeconds>(time);
}

}  // namespace weft::parent
