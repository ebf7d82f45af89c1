#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/controllers/log.h"
#include "operator/manager/replica.h"
#include "tests/world/fibers.h"
#include "tests/world/wire.h"

namespace weft::world {

// One process of weft-operator, from its start to its end.
class Incarnation {
 public:
  struct Options {
    manager::OperatorFlags flags;
    std::string identity;
    WallMicros epoch = 0, ahead = 0;
    std::uint64_t seed = 0;
    std::function<void(const std::string& line)> log;  // null: none
    bool verbose = false;
  };
  Incarnation(Wire::World world, Options options);

  ~Incarnation();  // precondition: ended
  void Start();
  void Terminate();  // SIGTERM
  void Kill();       // SIGKILL: nothing of it is seen any more
  bool ended() const { return ended_; }
  bool killed() const { return killed_; }
  bool lost() const { return lost_; }  // it ended because it lost the lead
  const std::string& identity() const { return identity_; }
  Machine& machine() { return machine_; }
  manager::Replica& replica() { return replica_; }
  void SetCut(bool cut);
  void WakeStreams();

 private:
  void Run();
  static manager::Replica::Options OptionsOf(const Options& options, Incarnation& self);

  const std::string identity_;
  Machine machine_;
  SplitMix64 chance_;
  const std::shared_ptr<kube::ServerClock> clock_;
  Wire lease_wire_, wire_;
  controllers::Log log_;
  std::mutex mutex_;
  std::unique_ptr<run::Condition> changed_;
  bool told_ = false;  // Poll has something to do
  bool stops_ = false, ended_ = false, killed_ = false, lost_ = false;
  manager::Replica replica_;
  std::unique_ptr<run::Thread> thread_;
};

}  // namespace weft::world
