#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/world/fibers.h"
#include "tests/world/laws.h"

namespace weft::world {

// Laws of jobs in queues and of other controllers' gangs; operator/docs/reliability.md names them.
class KueueLaws {
 public:
  KueueLaws(Fibers& fibers, Laws& laws) : fibers_(fibers), laws_(laws) {}
  void OnChange(const Change& change);
  // All objects are others at once.
  void OnRestore(const ApiServer& server);
  // Time has passed. `hard`: nothing can go on now, so laws of time wait.
  void Tick(bool hard);
  // Waits of Kueue's wishes that ended: how many, and the longest.
  std::size_t wishes() const { return wishes_; }

 private:
  using Object = std::shared_ptr<const Json>;
  void LookAtWorkload(const Change& change);
  void LookAtPlacement(const Change& change);
  void LookAtPod(const Change& change);
  void LookAtRetry(const Change& change);
  void Wait(const std::string& what, bool waits);

  Fibers& fibers_;
  Laws& laws_;
  std::map<std::string, Object> workloads_;         // by uid
  std::map<std::string, Instant> reserved_;         // Workloads by uid: since when
  std::map<std::string, Instant> gone_;             // Workloads by uid: since when
  std::map<std::string, Instant> admitted_;         // by the owner's uid: when it was admitted last
  std::map<std::string, Instant::duration> waits_;  // laws of time: how long already
  struct ForeignGang {
    std::size_t workers = 0;
    std::string job;              // uid of the Job that makes its pods
    std::set<std::string> bound;  // indexes that were ever bound
    std::map<std::string, Object> pods;
  };
  std::map<std::string, ForeignGang> gangs_;                // by the Placement's uid
  std::map<std::string, std::set<std::string>> succeeded_;  // indexes, by the Job's uid
  Instant ticked_{};
  std::size_t wishes_ = 0;
};

}  // namespace weft::world
