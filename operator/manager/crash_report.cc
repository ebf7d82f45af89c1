#include "operator/manager/crash_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <utility>

#include "operator/controllers/crash_report.h"
#include "operator/controllers/kube_writer.h"
#include "operator/kube/client.h"
#include "operator/kube/config.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "operator/manager/log_sink.h"

namespace weft::manager {
namespace {

constexpr kube::Millis kMostTime{8'000};
constexpr kube::Millis kBetweenTries{250};
// Ends the process even if a connection hangs.
constexpr unsigned kHardEndSeconds = 10;
constexpr int kSignalledExit = 128;

volatile std::sig_atomic_t exit_code = 0;

// The crashed process left its signal mask, its alarm and its sockets: a client that connects to
// them now would wait for nothing.
void ResetProcess(int code) {
  exit_code = code;
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGALRM, [](int) { _exit(exit_code); });
  alarm(kHardEndSeconds);
  close_range(STDERR_FILENO + 1, ~0U, 0);
}

Status Record(const OperatorFlags& flags, const ReportedCrash& crash) {
  if (flags.read_only) return Error{ErrorKind::kInvalid, "--read-only writes nothing"};
  Result<kube::Config> config = kube::LoadConfig({flags.kubeconfig, flags.context});
  if (!config) return config.error();
  kube::UseThreads(1);
  const kube::Instant end = kube::BootClock::now() + kMostTime;
  const auto transport = kube::MakeHttpTransport(*std::move(config), "weft-operator/" WEFT_VERSION);
  kube::SystemTimer timer;
  kube::Client client(*transport, timer,
                      {.field_manager = "weft-operator", .until = [end] { return end; }});
  controllers::KubeWriter writer(client, [] { return true; });
  return controllers::ReportCrash(
      writer, crash.subject, {WEFT_VERSION, crash.signal, crash.solving}, std::time(nullptr),
      [&] { return kube::BootClock::now() + kBetweenTries < end && timer.Wait(kBetweenTries); });
}

// Where kubelets read why a container ended; absent outside a container.
void WriteTerminationMessage(const std::string& text) {
  const int file = open("/dev/termination-log", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  if (write(file, text.data(), text.size()) < 0) return;  // the log has it too
  close(file);
}

}  // namespace

int RunCrashReport(const OperatorFlags& flags, const ReportedCrash& crash) {
  const int code = kSignalledExit + crash.signal;
  ResetProcess(code);
  const plan::CrashSubject& subject = crash.subject;
  const std::string what =
      "the solver crashed with signal " + std::to_string(crash.signal) +
      (crash.solving == plan::Solving::kFigures ? " while it computed figures of "
                                                : " while it chose nodes for ") +
      std::string(subject.kind) + " " + api::Show(subject.key);
  controllers::Log log = MakeLog(flags);
  const Status recorded = Record(flags, crash);
  const std::string then =
      recorded ? "recorded in its status" : "not recorded: " + recorded.error().message;
  log.Error(what, {{"uid", subject.uid}, {"record", then}});
  WriteTerminationMessage(what + "; " + then + "\n");
  return code;
}

}  // namespace weft::manager
