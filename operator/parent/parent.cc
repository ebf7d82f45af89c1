#include "operator/parent/parent.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "operator/inplace/child_environment.h"
#include "operator/inplace/state_text.h"

namespace weft::parent {
namespace {

constexpr Time kTurn{100}, kTurnWhileStopping{20};
constexpr Time kMostKilling{5'000}, kLastWords{100};
// One of these asks the parent to end; the others are only passed on.
constexpr int kEnding[] = {SIGTERM, SIGINT, SIGQUIT};
constexpr int kPassedOn[] = {SIGHUP, SIGUSR1, SIGUSR2, SIGWINCH};

inplace::MemberOptions WithInstance(inplace::MemberOptions options) {
  while (getrandom(&options.instance, sizeof options.instance, 0) < 0) {
  }
  return options;
}

// From here on signals are read and interrupt nothing. Before the first thread is made, which
// inherits the mask.
Descriptor SignalsOfProcess() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  for (const int one : kEnding) sigaddset(&mask, one);
  for (const int one : kPassedOn) sigaddset(&mask, one);
  sigprocmask(SIG_BLOCK, &mask, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return Descriptor(signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

std::optional<inplace::Coordinator> CoordinatorOf(const inplace::MemberOptions& options) {
  if (options.rank != 0) return std::nullopt;
  return inplace::Coordinator({options.workers, options.birth, 3 * options.heartbeat});
}

}  // namespace

Parent::Parent(Settings settings, std::vector<std::string> environment)
    : settings_(std::move(settings)),
      environment_(std::move(environment)),
      member_(WithInstance(settings_.member), EventLoop::Now()),
      coordinator_(CoordinatorOf(settings_.member)),
      signals_(SignalsOfProcess()),
      checkpoint_(settings_.checkpoint_file),
      server_(
          loop_, settings_.token, static_cast<std::size_t>(settings_.member.workers),
          {.received =
               coordinator_
                   ? [this](inplace::LinkId link,
                            const inplace::Report&
                                report) { coordinator_->Receive(link, report, EventLoop::Now()); }
                   : std::function<void(inplace::LinkId, const inplace::Report&)>(),
           .closed =
               [this](inplace::LinkId link) {
                 if (coordinator_) coordinator_->Closed(link);
               },
           .call = [this](const inplace::HttpCall& call) { return Answer(call); },
           .log = [this](const std::string& text) { Log(text); }}) {}

Parent::~Parent() { loop_.Forget(signals_.get()); }

void Parent::Log(const std::string& text) const {
  std::fprintf(stderr, "weft-run: worker %d: %s\n", settings_.member.rank, text.c_str());
}

void Parent::WatchSignals() {
  loop_.Watch(signals_.get(), true, false, [this](EventLoop::Ready) {
    signalfd_siginfo info{};
    while (read(signals_.get(), &info, sizeof info) == sizeof info) {
      TakeSignal(static_cast<int>(info.ssi_signo));
    }
  });
}

void Parent::TakeSignal(int signal) {
  if (signal == SIGCHLD) return;  // each turn collects what has ended
  for (const int ending : kEnding) {
    if (signal == ending) member_.End(signal, EventLoop::Now());
  }
  trainer_.Signal(signal);
}

bool Parent::Begin() {
  WatchSignals();
  const Status listening = server_.Listen(settings_.bind, settings_.control_port);
  if (!listening) {
    left_ = inplace::Leave{inplace::kLeaveCode, "Port: " + listening.error().message};
    return false;
  }
  if (coordinator_) return true;
  leader_ = std::make_unique<LeaderLink>(
      loop_, settings_.control_port, settings_.token,
      LeaderLink::Events{.host = [this] { return LeaderOf(settings_); },
                         .connected = [this] { member_.Connected(EventLoop::Now()); },
                         .disconnected = [this] { member_.Disconnected(); },
                         .received = [this](const inplace::Message& message) { Hear(message); },
                         .log = [this](const std::string& text) { Log(text); }});
  return true;
}

int Parent::Run() {
  if (!Begin()) return End();
  while (!left_) {
    const bool stopping = member_.State().phase == inplace::Phase::kStopping;
    loop_.Wait(stopping ? kTurnWhileStopping : kTurn);
    SeeTrainer();
    member_.Tick(EventLoop::Now());
    if (leader_) leader_->Tick();
    if (EventLoop::Now() >= next_sweep_) {
      next_sweep_ = EventLoop::Now() + kTurn;
      if (coordinator_) coordinator_->Tick(EventLoop::Now());
      server_.Tick();
    }
    Carry();
  }
  return End();
}

void Parent::SeeTrainer() {
  const Trainer::Change change = trainer_.Reap();
  const Time now = EventLoop::Now();
  if (change.main_code) {
    Log("the trainer of revision " + std::to_string(member_.State().at) + " ended with " +
        std::to_string(*change.main_code));
    member_.TrainerEnded(*change.main_code, now);
  }
  if (change.gone) member_.TrainerGone(now);
}

void Parent::Carry() {
  for (bool more = true; more && !left_;) {
    more = false;
    for (const inplace::Action& action : member_.Take()) {
      more = true;
      std::visit([this](const auto& one) { Do(one); }, action);
    }
    if (!coordinator_ || left_) continue;
    for (const inplace::Outgoing& out : coordinator_->Take()) {
      more = true;
      if (out.link == inplace::kOwnLink) {
        Hear(out.message);
      } else {
        server_.Send(out.link, out.message, out.close);
      }
    }
  }
}

void Parent::Do(const inplace::StartTrainer& start) {
  const auto variables = inplace::VariablesOf(LeaderOf(settings_), settings_.port, start.revision);
  trainer_.Start(settings_.command, inplace::WithVariables(environment_, variables));
  Log("started revision " + std::to_string(start.revision) + ", port " +
      std::to_string(inplace::PortOf(settings_.port, start.revision)) + ", process " +
      std::to_string(*trainer_.pid()));
}

void Parent::Do(const inplace::SignalTrainer& signal) {
  if (signal.kill) {
    trainer_.KillAll();
    return;
  }
  const inplace::Report state = member_.State();
  Log("stopping the trainer of revision " + std::to_string(state.at) +
      (state.want > state.at ? " for revision " + std::to_string(state.want) : ""));
  trainer_.Signal(SIGTERM);
  trainer_.Signal(SIGCONT);  // one that is stopped would not see it
}

void Parent::Do(const inplace::SendReport& send) {
  if (coordinator_) {
    coordinator_->Receive(inplace::kOwnLink, send.report, EventLoop::Now());
  } else {
    leader_->Send(send.report);
  }
}

void Parent::Do(const inplace::Reconnect&) {
  Log("worker 0 is silent");
  if (leader_) leader_->Drop();
}

void Parent::Do(const inplace::Leave& leave) { left_ = leave; }

void Parent::Hear(const inplace::Message& message) {
  const Time now = EventLoop::Now();
  if (const auto* order = std::get_if<inplace::Order>(&message)) member_.Receive(*order, now);
  if (const auto* refusal = std::get_if<inplace::Refusal>(&message)) {
    Log("refused: " + std::string(NameOf(*refusal)));
    member_.Receive(*refusal, now);
  }
}

std::string Parent::Answer(const inplace::HttpCall& call) {
  if (call.refused != 0) {
    return inplace::HttpAnswer(
        call.refused, "{\"error\": \"GET /state or POST /stop?revision=K, with the token\"}");
  }
  int status = 200;
  if (call.stop) {
    Log("a call wants revision " + std::to_string(call.revision));
    if (!member_.CallStop(call.revision, EventLoop::Now())) status = 409;
  }
  const inplace::ParentState state{trainer_.pid(), checkpoint_.Time()};
  return inplace::HttpAnswer(status, StateText(member_, state));
}

// Ends what is left, says farewell, and leaves the reason where Kubernetes shows it.
int Parent::End() {
  if (coordinator_) {
    coordinator_->LeaveGang(left_->code == 0);
    for (const inplace::Outgoing& out : coordinator_->Take()) {
      if (out.link != inplace::kOwnLink) server_.Send(out.link, out.message, out.close);
    }
  }
  const Time begin = EventLoop::Now();
  bool gone = false;
  while (!gone && EventLoop::Now() - begin < kMostKilling) {
    gone = trainer_.Reap().gone;
    if (gone) break;
    trainer_.KillAll();
    loop_.Wait(kTurnWhileStopping);
  }
  // Closing a socket with unread input would throw away what was sent last.
  const Time until = EventLoop::Now() + kLastWords;
  while (settings_.member.workers > 1 && EventLoop::Now() < until) loop_.Wait(kTurnWhileStopping);
  if (!left_->reason.empty()) {
    Log(left_->reason);
    const Descriptor file(
        open(settings_.termination_message.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC));
    const std::string line = "weft-run: " + left_->reason + "\n";
    if (file && write(file.get(), line.data(), line.size()) < 0) Log("no termination message");
  }
  return left_->code;
}

}  // namespace weft::parent
