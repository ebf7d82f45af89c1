#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "operator/kube/backoff.h"
#include "operator/kube/event.h"
#include "operator/kube/transport.h"

namespace weft::kube {

// Writes events from its own thread, so that callers never wait: at most 20 a second, each tried a
// few times. Notes that do not fit into the queue or cannot be written are dropped and counted.
// Thread-safety Start and Stop from one thread; the others from any.
class EventRecorder {
 public:
  struct Options {
    EventSeries::Options series;
    std::size_t queue = 1'024;
    // Called in the recorder's thread with the reason why an event was dropped. May be empty.
    std::function<void(const std::string& what)> on_failure;
    // Sets Request::until of every write; later notes are dropped. Null: no limit.
    std::function<Instant()> until;
    run::Executor* executor = &run::SystemExecutor();                // of its thread
    std::shared_ptr<Timer> timer = std::make_shared<SystemTimer>();  // not shared: Stop ends it
  };
  // `transport` must outlive the recorder.
  EventRecorder(Transport& transport, Options options);
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  // Returns at once.
  void Record(EventNote note);

  void Start();
  // Writes the remaining notes, for at most half a second.
  void Stop();
  // Runs in the caller's thread until Cancel.
  void Run();
  void Cancel();

  // How many notes were dropped: the queue was full, the rate too high, or the write failed.
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Pending {
    EventSeries::Write write;
    int tries = 0;
  };
  enum class Sent : std::uint8_t { kDone, kAgain };

  void Collect();
  void WriteSome();
  void WriteRest();
  Sent Send(Pending& pending);
  Instant Until() const;
  void Drop(const EventSeries::Write& write, const std::string& why);

  Transport& transport_;
  const Options options_;
  EventSeries series_;
  Backoff backoff_;
  std::deque<Pending> pending_;
  std::uint64_t limited_ = 0;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> cancel_{false};
  std::atomic<Instant> farewell_ends_{Instant::max()};
  std::mutex mutex_;
  std::deque<std::pair<EventNote, WallMicros>> notes_;  // guarded by mutex_
  std::unique_ptr<run::Thread> thread_;
};

}  // namespace weft::kube
