#include "tests/world/host.h"

#include <utility>

#include "operator/base/timestamp.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

controllers::Log::Options LogOptions(const Incarnation::Options& options, const Machine& machine) {
  controllers::Log::Options log;
  log.least = options.verbose ? controllers::LogLevel::kDebug : controllers::LogLevel::kInfo;
  log.write = [write = options.log, name = options.identity](const std::string& line) {
    if (write) write(name + " " + line);
  };
  log.time = [&machine] { return FormatTime(machine.Seconds()); };
  return log;
}

}  // namespace

Incarnation::Incarnation(Wire::World world, Options options)
    : identity_(options.identity),
      machine_(world.fibers, options.epoch, options.ahead),
      chance_(options.seed),
      clock_(std::make_shared<kube::ServerClock>(machine_)),
      lease_wire_(world, options.identity, kOperatorAccount, chance_.Next(),
                  [clock = clock_](UnixSeconds date) { clock->Hear(date); }),
      wire_(world, options.identity, kOperatorAccount, chance_.Next()),
      log_(LogOptions(options, machine_)),
      changed_(machine_.NewCondition()),
      replica_(lease_wire_, wire_, nullptr, log_, OptionsOf(options, *this)) {}

manager::Replica::Options Incarnation::OptionsOf(const Options& options, Incarnation& self) {
  manager::Replica::Options made;
  made.flags = options.flags;
  made.own_space = "weft-system";
  made.identity = options.identity;
  made.version = "world";
  made.chance = [&self] { return self.chance_.Next(); };
  // It would hide a change that nobody notices.
  if (options.seed % 5 != 0) made.look_again = run::Millis(0);
  made.on_leads = [&self] {
    const std::lock_guard lock(self.mutex_);
    self.told_ = true;
    self.changed_->NotifyAll();
  };
  made.executor = &self.machine_;
  made.clock = self.clock_;
  return made;
}

Incarnation::~Incarnation() {
  if (thread_) thread_->Join();
}

void Incarnation::Start() {
  thread_ = machine_.Start([this] { Run(); });
}

void Incarnation::Run() {
  replica_.Start();
  for (std::unique_lock lock(mutex_); !stops_ && !lost_;) {
    while (!stops_ && !told_) changed_->Wait(lock);
    if (stops_) break;
    told_ = false;
    lock.unlock();
    lost_ = !replica_.Poll();
    lock.lock();
  }
  for (Wire* wire : {&lease_wire_, &wire_}) wire->SetImpatient();
  replica_.Stop();
  ended_ = true;
}

void Incarnation::Terminate() {
  const std::lock_guard lock(mutex_);
  stops_ = true;
  changed_->NotifyAll();
}

void Incarnation::Kill() {
  killed_ = true;
  for (Wire* wire : {&lease_wire_, &wire_}) wire->Kill();
  Terminate();
}

void Incarnation::SetCut(bool cut) {
  for (Wire* wire : {&lease_wire_, &wire_}) wire->SetCut(cut);
}

void Incarnation::WakeStreams() {
  for (Wire* wire : {&lease_wire_, &wire_}) wire->WakeStreams();
}

}  // namespace weft::world
