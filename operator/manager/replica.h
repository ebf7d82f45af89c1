#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "operator/controllers/counting_writer.h"
#include "operator/controllers/kube_writer.h"
#include "operator/controllers/log.h"
#include "operator/controllers/operator.h"
#include "operator/controllers/recorder.h"
#include "operator/kube/client.h"
#include "operator/kube/event_recorder.h"
#include "operator/kube/lease_keeper.h"
#include "operator/kube/server_clock.h"
#include "operator/kube/transport.h"
#include "operator/manager/operator_flags.h"
#include "operator/metrics/counters.h"
#include "operator/outlook/prices.h"
#include "operator/plan/solver_crash.h"
#include "operator/run/executor.h"

namespace weft::manager {

// One weft-operator without its servers and signals: it takes part in the election, leads as long
// as it holds the Lease, and never leads twice. All its time and threads are the executor's.
// Thread-safety  Poll and Stop from one thread; the others from any.
class Replica {
 public:
  struct Options {
    OperatorFlags flags;
    std::optional<outlook::Prices> prices;
    std::string own_space;  // namespace of the Lease and of what was learned
    std::string identity;   // unique to this process
    std::string version;
    plan::Deciding deciding;                // may be null
    std::function<std::uint64_t()> chance;  // seeds of jitter
    std::function<void()> on_leads;  // called in any thread: Poll has something to do; may be null
    run::Millis look_again = controllers::Operator::Options().look_again;
    run::Executor* executor = &run::SystemExecutor();
    std::shared_ptr<kube::ServerClock> clock;  // hears `lease_transport`; null: the machine's
  };
  // The transports must outlive the replica. The Lease has one of its own, so that writes that wait
  // for the API server do not delay a renewal. `prometheus`: null: no step is measured.
  Replica(kube::Transport& lease_transport, kube::Transport& transport, kube::Transport* prometheus,
          controllers::Log& log, Options options);

  void Start();
  // Begins to lead if the Lease is ours by now; to be called after on_leads, or now and then.
  // Returns false if the lead was lost: the process must end.
  bool Poll();
  // Ends all work and releases the Lease, within about three seconds.
  void Stop();

  bool leads() const { return leads_; }
  // The operator while this replica is leader, else null. It is shared, so that it lives while in
  // use.
  std::shared_ptr<controllers::Operator> Working() const;
  // Why it should get no traffic, or nothing. A standby is ready, because it could take over at
  // once. A leader is ready when it has read all objects.
  std::optional<std::string> NotReady() const;  // nothing while it stops
  // Why it must be restarted, or nothing: a thread hangs, while the Lease is renewed by another
  // one.
  std::optional<std::string> Stuck() const;
  metrics::Counters& counters() { return counters_; }
  kube::Timer& timer() { return timer_; }

 private:
  void Show(std::shared_ptr<controllers::Operator> work);
  void SetLeads(bool leads);
  bool MayWrite() const;
  kube::Instant WritesEnd() const;
  kube::Instant LeadEnds() const;
  kube::LeaseKeeper::Options LeaseOptions();
  kube::Client::Options ClientOptions();
  kube::EventRecorder::Options EventOptions();
  controllers::Operator::Options WorkOptions();

  const Options options_;
  kube::Transport& lease_transport_;
  kube::Transport& transport_;
  kube::Transport* const prometheus_;
  controllers::Log& log_;
  const std::shared_ptr<kube::ServerClock> clock_;
  metrics::Counters counters_;
  kube::SystemTimer timer_;
  kube::Client client_;
  controllers::KubeWriter plain_writer_;
  controllers::CountingWriter writer_;
  kube::EventRecorder events_;
  const std::unique_ptr<controllers::Recorder> recorder_;
  std::atomic<bool> leads_{false}, stopping_{false};
  std::atomic<kube::Instant> stops_writing_{kube::Instant::max()};
  std::unique_ptr<kube::LeaseKeeper> keeper_;
  bool led_ = false;
  std::shared_ptr<controllers::Operator> work_;
  mutable std::mutex shown_mutex_;
  std::shared_ptr<controllers::Operator> shown_;
};

}  // namespace weft::manager
