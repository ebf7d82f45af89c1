#include "operator/manager/crash_guard.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "operator/base/check.h"

namespace weft::manager {
namespace {

api::ObjectMeta Meta() {
  api::ObjectMeta meta;
  meta.key = {"team-a", "llama"};
  meta.uid = "u1";
  meta.generation = 7;
  return meta;
}

const api::ObjectMeta kMeta = Meta();

cluster::WorkloadView Llama() {
  cluster::WorkloadView workload;
  workload.meta = &kMeta;
  return workload;
}

// A process that is guarded, with `echo` in place of the program that reports, and then crashes.
class CrashGuardTest : public ::testing::Test {
 protected:
  // What it prints until it ends.
  std::string Run(const std::function<void()>& crash) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const rlimit no_core{0, 0};
      setrlimit(RLIMIT_CORE, &no_core);
      std::string program = "echo", flag = "--workers=3";
      char* argv[] = {program.data(), flag.data(), nullptr};
      GuardAgainstCrashes(argv, "/bin/echo");
      crash();
      _exit(0);
    }
    close(ends[1]);
    std::string text;
    char bytes[4096];
    for (ssize_t count; (count = read(ends[0], bytes, sizeof bytes)) > 0;) {
      text.append(bytes, static_cast<std::size_t>(count));
    }
    close(ends[0]);
    waitpid(child, &status_, 0);
    return text;
  }
  int status_ = 0;
};

std::string ReportOf(int signal, const std::string& solving = "nodes") {
  return "report-crash TrainingJob team-a llama u1 7 " + solving + " " +
         (signal < 10 ? "0" + std::to_string(signal) : std::to_string(signal)) + " --workers=3\n";
}

volatile int* volatile nowhere = nullptr;

// UndefinedBehaviorSanitizer would end the process in its own way.
__attribute__((no_sanitize("undefined"))) void Fault() { *nowhere = 1; }

// Deeper than any stack.
int Overflow(volatile const int* depth) {  // NOLINT(misc-no-recursion)
  if (*depth == std::numeric_limits<int>::max()) return 0;
  volatile int frame[512] = {*depth + 1};
  return Overflow(frame) + frame[0];
}

TEST_F(CrashGuardTest, ReportsTheWorkloadThatWasBeingDecided) {
  struct Case {
    const char* name;
    std::function<void()> crash;
    int signal;
  };
  const Case cases[] = {
      {"a null pointer", Fault, SIGSEGV},
      {"a broken invariant", [] { WEFT_CHECK(nowhere != nullptr); }, SIGABRT},
      {"a full stack",
       [] {
         int depth = 0;
         Overflow(&depth);
       },
       SIGSEGV},
      {"a division by zero", [] { raise(SIGFPE); }, SIGFPE},
      {"an instruction that does not exist", [] { __builtin_trap(); }, SIGILL},
      {"a page that cannot be read", [] { raise(SIGBUS); }, SIGBUS},
  };
  for (const Case& one : cases) {
    const std::string text = Run([&] {
      const cluster::WorkloadView workload = Llama();
      NameWorkload(&workload);
      one.crash();
    });
    EXPECT_EQ(text, ReportOf(one.signal)) << one.name;
    EXPECT_TRUE(WIFEXITED(status_)) << one.name;
  }
}

TEST_F(CrashGuardTest, TellsWhatTheSolverWorkedOn) {
  const std::string text = Run([] {
    const cluster::WorkloadView workload = Llama();
    NameWorkload(&workload, plan::Solving::kFigures);
    Fault();
  });
  EXPECT_EQ(text, ReportOf(SIGSEGV, "figures"));
}

// Where no exception may leave. A bug is one of the workload, lack of memory is not.
TEST_F(CrashGuardTest, ReportsAnExceptionButNotLackOfMemory) {
  for (const bool memory : {false, true}) {
    const std::string text = Run([&] {
      close(STDERR_FILENO);
      const cluster::WorkloadView workload = Llama();
      std::thread([&] {  // which an exception must not leave
        NameWorkload(&workload);
        if (memory) throw std::bad_alloc();
        throw std::logic_error("a bug");
      })
          .join();
    });
    EXPECT_EQ(text, memory ? "" : ReportOf(SIGABRT));
  }
}

TEST_F(CrashGuardTest, ReportsFromAnyThread) {
  const std::string text = Run([] {
    std::thread([] {
      const cluster::WorkloadView workload = Llama();
      NameWorkload(&workload);
      int depth = 0;
      Overflow(&depth);
    }).join();
  });
  EXPECT_EQ(text, ReportOf(SIGSEGV));
}

TEST_F(CrashGuardTest, EndsAsWithoutAGuardWhileNothingIsDecided) {
  struct Case {
    const char* name;
    std::function<void()> before;
  };
  const Case cases[] = {
      {"before the first decision", [] {}},
      {"after a decision",
       [] {
         const cluster::WorkloadView workload = Llama();
         NameWorkload(&workload);
         NameWorkload(nullptr);
       }},
      {"during a decision of another thread",
       [] {
         std::thread([] {
           const cluster::WorkloadView workload = Llama();
           NameWorkload(&workload);
         }).join();
       }},
      {"of an object that is not in the cluster",
       [] {
         api::ObjectMeta meta = Meta();
         meta.uid.clear();
         cluster::WorkloadView workload;
         workload.meta = &meta;
         NameWorkload(&workload);
       }},
  };
  for (const Case& one : cases) {
    for (const int signal : {SIGSEGV, SIGABRT}) {
      const std::string text = Run([&] {
        one.before();
        if (signal == SIGABRT) std::abort();
        Fault();
      });
      EXPECT_EQ(text, "") << one.name;
      EXPECT_TRUE(WIFSIGNALED(status_)) << one.name;
      EXPECT_EQ(WTERMSIG(status_), signal) << one.name;
    }
  }
}

TEST_F(CrashGuardTest, EndsByTheSignalIfTheProgramCannotBeStarted) {
  Run([] {
    std::string program = "none";
    char* argv[] = {program.data(), nullptr};
    GuardAgainstCrashes(argv, "/does/not/exist");
    const cluster::WorkloadView workload = Llama();
    NameWorkload(&workload);
    Fault();
  });
  EXPECT_TRUE(WIFSIGNALED(status_));
  EXPECT_EQ(WTERMSIG(status_), SIGSEGV);
}

TEST(ParseCrashTest, ReadsWhatTheHandlerWrites) {
  const auto crash = ParseCrash(
      {"report-crash", "Placement", "ns", "p", "u", "12", "figures", "06", "--a", "--b"});
  ASSERT_TRUE(crash);
  EXPECT_EQ(crash->subject.kind, "Placement");
  EXPECT_EQ(crash->subject.key, (api::ObjectKey{"ns", "p"}));
  EXPECT_EQ(crash->subject.uid, "u");
  EXPECT_EQ(crash->subject.generation, 12);
  EXPECT_EQ(crash->solving, plan::Solving::kFigures);
  EXPECT_EQ(crash->signal, 6);
  EXPECT_EQ(crash->arguments, (std::vector<std::string>{"--a", "--b"}));
  EXPECT_FALSE(ParseCrash({"--workers=3"}));
  EXPECT_FALSE(ParseCrash({"report-crash", "Placement"}));
}

}  // namespace
}  // namespace weft::manager
