#include "operator/manager/crash_guard.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <string_view>

#include "operator/base/check.h"

namespace weft::manager {
namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// The handler's own frames and those of execve take less than a tenth of it; the kernel's frame
// with AVX-512 or AMX registers takes up to 12 KiB.
constexpr std::size_t kStackBytes = std::size_t{64} << 10;
// Longer texts than Kubernetes allows: 253 bytes for a name, 36 for a uid.
constexpr std::size_t kTextBytes = 320;
constexpr std::array<const char*, 3> kKinds = {"TrainingJob", "Placement", "Workload"};
constexpr std::array<const char*, 2> kSolvings = {"nodes", "figures"};  // by plan::Solving

using Text = std::array<char, kTextBytes>;

// Zero-initialised: the handler must not run a constructor.
struct Named {
  std::atomic<const char*> kind;  // null: no workload; set last
  const char* solving;
  Text space, name, uid, generation;
};
thread_local constinit Named named{};
static_assert(std::atomic<const char*>::is_always_lock_free);

// The arguments of the fresh process: these places are filled by the handler.
enum Place : std::size_t { kKind = 2, kSpace, kName, kUid, kGeneration, kSolving, kSignal, kRest };
char** report_arguments = nullptr;  // never freed: other threads may crash while the process ends
const char* program_path = nullptr;
Text signal_text;

// False if the text does not fit.
template <std::size_t kBytes>
bool Copy(std::string_view from, std::array<char, kBytes>& to) {
  if (from.size() >= to.size()) return false;
  *std::copy(from.begin(), from.end(), to.begin()) = '\0';
  return true;
}

// Only calls that POSIX lists as safe in a signal handler.
void Report(int signal) {
  const char* kind = named.kind.load(std::memory_order_relaxed);
  if (kind == nullptr) return;
  for (const int other : kSignals) std::signal(other, SIG_DFL);  // a crash in here ends
  signal_text = {static_cast<char>('0' + signal / 10), static_cast<char>('0' + signal % 10), '\0'};
  report_arguments[kKind] = const_cast<char*>(kind);  // execve writes to none of them
  report_arguments[kSpace] = named.space.data();
  report_arguments[kName] = named.name.data();
  report_arguments[kUid] = named.uid.data();
  report_arguments[kGeneration] = named.generation.data();
  report_arguments[kSolving] = const_cast<char*>(named.solving);
  execve(program_path, report_arguments, environ);
}

// SA_RESETHAND has restored the default action, so a fault that happens again on return ends the
// process. A signal that was sent happens only once.
void OnCrash(int signal, siginfo_t* info, void* /*context*/) {
  const bool sent = info->si_code <= 0;
  Report(signal);
  if (sent) raise(signal);
}

std::terminate_handler terminate_before = nullptr;

// Lack of memory where no exception may leave, as in a noexcept function, says nothing about the
// workload either.
[[noreturn]] void OnTerminate() {
  if (std::current_exception() != nullptr) {
    try {
      throw;
    } catch (const std::bad_alloc&) {
      NameWorkload(nullptr);
    } catch (...) {  // a bug
    }
  }
  terminate_before();
  std::abort();
}

// The handler's stack of a thread.
class SignalStack {
 public:
  SignalStack() : bytes_(std::make_unique_for_overwrite<std::byte[]>(kStackBytes)) {
    const stack_t stack{bytes_.get(), 0, kStackBytes};
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    const stack_t none{nullptr, SS_DISABLE, 0};
    sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  const std::unique_ptr<std::byte[]> bytes_;
};

template <typename Number>
Number NumberOf(const std::string& text) {
  Number number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

void GuardAgainstCrashes(char** argv, const char* program) {
  static_assert(*std::max_element(kSignals.begin(), kSignals.end()) < 100, "two digits");
  program_path = program;
  static std::array<char, std::string_view(kReportCrash).size() + 1> verb;
  Copy(kReportCrash, verb);
  std::size_t given = 1;
  while (argv[given] != nullptr) ++given;
  report_arguments = new char*[kRest + given]();  // null at the end
  report_arguments[0] = argv[0];
  report_arguments[1] = verb.data();
  report_arguments[kSignal] = signal_text.data();
  std::copy(argv + 1, argv + given, report_arguments + kRest);
  struct sigaction action = {};
  action.sa_sigaction = OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) WEFT_CHECK(sigaction(signal, &action, nullptr) == 0);
  terminate_before = std::set_terminate(OnTerminate);
}

void NameWorkload(const cluster::WorkloadView* workload, plan::Solving solving) {
  named.kind.store(nullptr, std::memory_order_relaxed);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (workload == nullptr) return;
  thread_local const SignalStack stack;
  const plan::CrashSubject subject = plan::SubjectOf(*workload, solving);
  if (subject.uid.empty()) return;
  const auto kind = std::find(kKinds.begin(), kKinds.end(), subject.kind);
  if (kind == kKinds.end()) return;
  const bool fits = Copy(subject.key.space, named.space) && Copy(subject.key.name, named.name) &&
                    Copy(subject.uid, named.uid) &&
                    Copy(std::to_string(subject.generation), named.generation);
  if (!fits) return;
  named.solving = kSolvings[static_cast<std::size_t>(solving)];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  named.kind.store(*kind, std::memory_order_relaxed);
}

std::optional<ReportedCrash> ParseCrash(const std::vector<std::string>& given) {
  constexpr std::size_t kOwn = kRest - 1;  // without the program
  if (given.size() < kOwn || given.front() != kReportCrash) return std::nullopt;
  const auto at = [&](Place place) -> const std::string& { return given[place - 1]; };
  ReportedCrash crash;
  for (const char* kind : kKinds) {
    if (at(kKind) == kind) crash.subject.kind = kind;
  }
  crash.subject.key = {at(kSpace), at(kName)};
  crash.subject.uid = at(kUid);
  crash.subject.generation = NumberOf<std::int64_t>(at(kGeneration));
  if (at(kSolving) == kSolvings.back()) crash.solving = plan::Solving::kFigures;
  crash.signal = NumberOf<int>(at(kSignal));
  crash.arguments.assign(given.begin() + kOwn, given.end());
  return crash;
}

}  // namespace weft::manager
