#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/api/deletion.h"
#include "operator/base/units.h"
#include "operator/kube/reflector_keys.h"
#include "operator/kube/timer.h"
#include "operator/kube/watch.h"

namespace weft::kube {

// Receives the objects of one resource. Called only from the reflector's thread. A call may block;
// the server then waits.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // A list begins to arrive. Until OnSynced the copy is a mixture of two states, so it should not
  // be used for decisions. Just before OnSynced, objects that the list lacks are deleted. A list
  // that breaks off deletes nothing and begins again.
  virtual void OnReplaceBegin() = 0;
  // The object exists with this content. The sink must check `object.unreadable` (DecodingSink
  // does).
  virtual void OnUpsert(const ServedObject& object) = 0;
  // An object is gone. The sink may not know it, and may know another of that name.
  virtual void OnDelete(const api::Deletion& deletion) = 0;
  virtual void OnSynced(const std::string& resource_version) = 0;
  // The server does not serve the kind, or not to us: nothing is known of it any more.
  virtual void OnAbsent() {}
  // Objects that the sink knows from answers to our own writes, in versions up to this one. They
  // are deleted if a list of this version lacks them.
  virtual std::vector<api::ObjectKey> HeldUpTo(const std::string& /*resource_version*/) {
    return {};
  }
};

// Callbacks for metrics, called in the reflector's thread; each may be empty.
struct ReflectorHooks {
  std::function<void(const std::string& what)> on_failure;  // a sentence for the log
  std::function<void()> on_restart;                         // a stream starts again after a failure
  std::function<void()> on_answered;  // synced() or absent() is true now, and was not before
  // The time from the arrival of a piece of the stream until the sink has taken it.
  std::function<void(Seconds lag)> on_lag;
};

// Keeps a sink up to date with one resource: lists, watches, and repeats both after failures
// (watch.h).
// Thread-safety  Start and Stop from one thread; the others from any.
class Reflector {
 public:
  struct Options {
    Watch::Options watch;
    manifest::Subject subject = manifest::Subject::kWhole;  // what is kept of an object
    // The resource's definition need not be installed: a list that is not found is then no failure,
    // and one that is forbidden counts as not installed.
    bool optional = false;
    ReflectorHooks hooks;
    run::Executor* executor = &run::SystemExecutor();                // of its thread
    std::shared_ptr<Timer> timer = std::make_shared<SystemTimer>();  // not shared: Stop ends it
  };
  // `transport` and `sink` must outlive the reflector.
  Reflector(Transport& transport, ObjectSink& sink, Options options);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Runs in its own thread until Stop, which returns within a second plus the time of a call of the
  // sink.
  void Start();
  void Stop();
  // Runs in the caller's thread until Cancel.
  void Run();
  void Cancel();

  // Whether the first list is complete.
  bool synced() const { return synced_; }
  // Whether an optional resource was not installed, or forbidden, when it was last requested.
  bool absent() const { return absent_; }
  // Time since the API server last sent data about this resource or properly ended a watch, else
  // since construction. After half a minute the copy may be out of date.
  Millis Staleness() const;

 private:
  void ReadPage(const Request& request);
  void Follow(const Request& request);
  bool TakeFrame(const std::string& frame);
  void Apply(const WatchEvent& event);
  void BeginList();
  void FinishList(const std::string& resource_version);
  void Malformed(std::string what);
  void End(const Result<Response>& answer);
  void Touch();
  void SetAnswered(std::atomic<bool>& answer);

  Transport& transport_;
  ObjectSink& sink_;
  const Options options_;
  Watch watch_;
  KnownKeys known_;
  std::string fault_;  // in the current answer
  bool malformed_ = false;
  bool list_begins_ = false;  // with the next event; then OnReplaceBegin is due
  bool failed_ = false;
  kube::Cancel cancel_{false};
  std::atomic<bool> synced_{false};
  std::atomic<bool> absent_{false};
  std::atomic<Instant::rep> contact_;
  std::unique_ptr<run::Thread> thread_;
};

}  // namespace weft::kube
