#include "operator/parent/trainer.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "operator/base/check.h"

namespace weft::parent {
namespace {

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec only what is safe in a signal handler: another thread may hold a lock.
[[noreturn]] void Become(char** command, char** environment, pid_t parent, const rlimit& files) {
  setpgid(0, 0);
  // Should we be killed, the trainer must not go on with nobody to stop it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);
  setrlimit(RLIMIT_NOFILE, &files);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvpe(command[0], command, environment);
  const int error = errno;
  const char* words[] = {"weft-run: cannot run ", command[0], ": ", strerrordesc_np(error), "\n"};
  for (const char* word : words) {
    if (word == nullptr || write(STDERR_FILENO, word, std::strlen(word)) < 0) break;
  }
  _exit(error == ENOENT ? 127 : 126);
}

// The process id of a folder of /proc if its parent is `parent`; else 0.
pid_t ChildOf(const char* name, pid_t parent) {
  char path[64];
  if (name[0] < '0' || name[0] > '9') return 0;
  std::snprintf(path, sizeof path, "/proc/%.20s/stat", name);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char text[512];
  const std::size_t length = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[length] = '\0';
  // "PID (NAME) STATE PPID": the name may hold anything, so the last bracket counts.
  const char* end = std::strrchr(text, ')');
  char state = '?';
  int of = 0;
  if (end == nullptr || std::sscanf(end + 1, " %c %d", &state, &of) != 2) return 0;
  return of == parent ? static_cast<pid_t>(std::atoi(name)) : 0;
}

}  // namespace

Trainer::Trainer() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  getrlimit(RLIMIT_NOFILE, &files_);
  const rlimit most{files_.rlim_max, files_.rlim_max};
  setrlimit(RLIMIT_NOFILE, &most);
}

void Trainer::Start(const std::vector<std::string>& command,
                    const std::vector<std::string>& environment) {
  WEFT_CHECK(main_ == 0 && !command.empty());  // two trainers of one worker must never run
  std::vector<char*> words = Pointers(command);
  std::vector<char*> variables = Pointers(environment);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) Become(words.data(), variables.data(), parent, files_);
  if (child < 0) {
    std::perror("weft-run: fork");
    std::exit(EXIT_FAILURE);
  }
  setpgid(child, child);  // in both processes: whichever comes first
  main_ = group_ = child;
}

void Trainer::Signal(int signal) {
  if (group_ != 0) kill(-group_, signal);
}

void Trainer::KillAll() {
  Signal(SIGKILL);
  DIR* processes = opendir("/proc");
  if (processes == nullptr) return;
  const pid_t self = getpid();
  while (const dirent* entry = readdir(processes)) {
    if (const pid_t child = ChildOf(entry->d_name, self); child > 0) kill(child, SIGKILL);
  }
  closedir(processes);
}

Trainer::Change Trainer::Reap() {
  Change change;
  while (true) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) continue;
    if (ended <= 0) {
      change.gone = ended < 0;
      if (change.gone) group_ = 0;  // the number may be another's now
      return change;
    }
    if (ended != main_) continue;
    main_ = 0;
    change.main_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
}

std::optional<int> Trainer::pid() const {
  return main_ == 0 ? std::nullopt : std::optional<int>(main_);
}

}  // namespace weft::parent
