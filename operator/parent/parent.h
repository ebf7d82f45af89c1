#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/inplace/coordinator.h"
#include "operator/inplace/http_call.h"
#include "operator/inplace/member.h"
#include "operator/parent/checkpoint_file.h"
#include "operator/parent/control_server.h"
#include "operator/parent/leader_link.h"
#include "operator/parent/settings.h"
#include "operator/parent/trainer.h"

namespace weft::parent {

// One worker's parent: carries out what its Member decides, and on worker 0 carries the
// coordinator's messages. One thread (and that of CheckpointFile).
class Parent {
 public:
  // `environment`: "NAME=VALUE" each, for the trainer.
  Parent(Settings settings, std::vector<std::string> environment);
  ~Parent();

  // Until the member leaves. The exit code of the program.
  int Run();

 private:
  bool Begin();
  void WatchSignals();
  void TakeSignal(int signal);
  void SeeTrainer();
  void Carry();
  void Do(const inplace::StartTrainer& start);
  void Do(const inplace::SignalTrainer& signal);
  void Do(const inplace::SendReport& send);
  void Do(const inplace::Reconnect&);
  void Do(const inplace::Leave& leave);
  void Hear(const inplace::Message& message);
  void CarryOrders();
  std::string Answer(const inplace::HttpCall& call);
  int End();
  void Log(const std::string& text) const;

  const Settings settings_;
  const std::vector<std::string> environment_;
  EventLoop loop_;
  Trainer trainer_;
  inplace::Member member_;
  std::optional<inplace::Coordinator> coordinator_;  // on worker 0
  Descriptor signals_;
  CheckpointFile checkpoint_;
  ControlServer server_;
  std::unique_ptr<LeaderLink> leader_;  // on all others
  Time next_sweep_{0};                  // over all connections, of which there may be thousands
  std::optional<inplace::Leave> left_;
};

}  // namespace weft::parent
