#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace weft::parent {

// The trainer's processes: the command in a process group of its own, and everything below it.
// The program is a child subreaper (prctl(2)): a process whose parent ends becomes our child, so
// that nothing is left exactly when we have no child any more.
class Trainer {
 public:
  // Makes this process a subreaper, and gives it, but not its trainers, as many files as the system
  // allows: worker 0's parent has a connection to each other.
  Trainer();

  // Starts the command with this environment. Precondition: nothing is left of an earlier start. A
  // command that cannot be run ends with 127 or 126, as in a shell.
  void Start(const std::vector<std::string>& command, const std::vector<std::string>& environment);

  // To the process group; does nothing if the group has ended.
  void Signal(int signal);
  // SIGKILL to the group and to all our children. To be called until nothing is left: what was
  // below a killed process becomes our child only then.
  void KillAll();

  struct Change {
    std::optional<int> main_code;  // the command ended; 128 + signal for a signal
    bool gone = false;             // nothing is left
  };
  // Collects what has ended.
  Change Reap();

  std::optional<int> pid() const;  // of the command, while it runs

 private:
  rlimit files_{};   // as the trainers get it
  pid_t main_ = 0;   // 0: has ended, or none was started
  pid_t group_ = 0;  // of the last start
};

}  // namespace weft::parent
