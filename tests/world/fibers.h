#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operator/base/random.h"
#include "operator/run/executor.h"

namespace weft::world {

using run::Instant;
using run::Millis;
using run::WallMicros;
using std::chrono::seconds;

class Machine;
struct Fiber;

// Virtual time, and threads that are played one after the other in one real thread. Which of those
// that could run is next is chance, from the seed: the same seed gives the same history. Time
// passes only when all wait. A fiber gives up the thread only in a wait, so no thread may wait for
// anything but a Condition while it holds a mutex: the next one that wants it would stop the world.
// Thread-safety  none.
class Fibers {
 public:
  explicit Fibers(std::uint64_t seed);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  Instant now() const { return now_; }
  // Calls back at that time, or at once if it is past. A callback must not wait.
  void At(Instant time, std::function<void()> call);
  void After(Instant::duration delay, std::function<void()> call) {
    At(now_ + delay, std::move(call));
  }
  Fiber* Start(Machine& machine, std::function<void()> work);
  // Lets time pass until `end`.
  void RunUntil(Instant end);
  // Runs one fiber or lets time pass until something is due, `end` at most; false at the end.
  bool Step(Instant end);

  // The fiber that runs now; null in a callback.
  Fiber* current() const { return current_; }
  // Waits until it is woken, or until that time. Returns false if the time came.
  bool Park(Instant until);
  void Sleep(Instant::duration time);
  void Wake(Fiber* fiber);
  // Waits until the fiber has ended, and frees it.
  void Join(Fiber* fiber);
  // Fibers that have not ended.
  std::size_t alive() const { return alive_; }

 private:
  friend class Machine;
  struct Due {
    Fiber* fiber = nullptr;  // woken, if it still waits for this; null: `call`
    std::uint64_t wait = 0;
    std::function<void()> call;
  };
  void Run(Fiber* fiber);
  void BackToLoop(bool ends);
  static void Entry(unsigned high, unsigned low);
  std::unique_ptr<Fiber> NewFiber();

  struct Loop;  // the context of RunUntil
  const std::unique_ptr<Loop> loop_;
  SplitMix64 chance_;
  Instant now_{};
  std::map<std::pair<Instant, std::uint64_t>, Due> due_;
  std::uint64_t order_ = 0;
  std::vector<Fiber*> ready_;
  Fiber* current_ = nullptr;
  std::map<Fiber*, std::unique_ptr<Fiber>> fibers_;  // looked up by address, never iterated
  std::vector<std::unique_ptr<Fiber>> spare_;        // with their stacks
  std::size_t alive_ = 0;
};

// The machine of one process: its clocks and its threads.
class Machine final : public run::Executor {
 public:
  // `ahead`: how far its wall clock is ahead of the world's.
  Machine(Fibers& fibers, WallMicros epoch, WallMicros ahead)
      : fibers_(fibers), epoch_(epoch), ahead_(ahead) {}

  Instant Now() const override { return fibers_.now(); }
  WallMicros Wall() const override;
  std::unique_ptr<run::Thread> Start(std::function<void()> work) override;
  std::unique_ptr<run::Condition> NewCondition() override;

  void SetAhead(WallMicros ahead) { ahead_ = ahead; }
  WallMicros ahead() const { return ahead_; }
  // No thread of it runs until then.
  void Freeze(Instant until);
  Fibers& fibers() { return fibers_; }

 private:
  friend class Fibers;
  Fibers& fibers_;
  const WallMicros epoch_;
  WallMicros ahead_;
  Instant frozen_until_{};
  std::vector<Fiber*> frozen_;  // would run
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace weft::world
