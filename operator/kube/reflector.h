#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "operator/base/units.h"
#include "operator/kube/reflector_keys.h"
#include "operator/kube/timer.h"
#include "operator/kube/watch.h"

namespace weft::kube {

// Receives the objects of one resource. Called only from the reflector's thread; may block, which
// holds the server back.
class ObjectSink {
 public:
  virtual ~ObjectSink() = default;
  // A list begins to arrive: the copy is on its way to another state, no decision should rest on
  // it until OnSynced. What the list does not show is deleted right before that. A list that breaks
  // off deletes nothing and begins again.
  virtual void OnReplaceBegin() = 0;
  // It exists, as it is now. Looking at `object.unreadable` is up to the sink (DecodingSink does).
  virtual void OnUpsert(const ServedObject& object) = 0;
  // The key may be unknown to the sink.
  virtual void OnDelete(const api::ObjectKey& key) = 0;
  virtual void OnSynced(const std::string& resource_version) = 0;
  // Objects that the sink knows from the answers to its own writes, in versions up to this one:
  // they are deleted if a list of this version lacks them.
  virtual std::vector<api::ObjectKey> HeldUpTo(const std::string& /*resource_version*/) {
    return {};
  }
};

// Callbacks for metrics, from the reflector's thread; each may be empty.
struct ReflectorHooks {
  std::function<void(const std::string& what)> on_failure;  // a sentence for the log
  std::function<void()> on_restart;                         // a stream started again after that
  // From the arrival of a piece of the stream until the sink has all of it.
  std::function<void(Seconds lag)> on_lag;
};

// Keeps a sink up to date with one resource: lists, watches, and does both again for as long as it
// takes. watch.h says how.
// Thread-safety  Start and Stop from one thread; the others from any.
class Reflector {
 public:
  struct Options {
    Watch::Options watch;
    manifest::Subject subject = manifest::Subject::kWhole;  // what is kept of an object
    ReflectorHooks hooks;
    std::shared_ptr<Timer> timer = std::make_shared<SystemTimer>();  // its own: Stop ends it
  };
  // Both outlive the reflector.
  Reflector(Transport& transport, ObjectSink& sink, Options options);
  ~Reflector();
  Reflector(const Reflector&) = delete;
  Reflector& operator=(const Reflector&) = delete;

  // Runs in a thread of its own until Stop, which returns within a second or what the sink takes.
  void Start();
  void Stop();
  // Runs in the caller's thread until Cancel.
  void Run();
  void Cancel();

  // The first list is complete.
  bool synced() const { return synced_; }
  // Time since the API server last sent anything about this resource, including the proper end of a
  // silent watch, or since construction. After half a minute the copy may be outdated.
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

  Transport& transport_;
  ObjectSink& sink_;
  const Options options_;
  Watch watch_;
  KnownKeys known_;
  std::string fault_;  // of the answer that is read
  bool malformed_ = false;
  bool list_begins_ = false;  // with the next event
  bool failed_ = false;
  kube::Cancel cancel_{false};
  std::atomic<bool> synced_{false};
  std::atomic<Instant::rep> contact_;
  std::thread thread_;
};

}  // namespace weft::kube
