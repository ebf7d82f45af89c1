#include "tests/world/fibers.h"

#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "operator/base/check.h"

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ASAN 1
#endif
#endif
#ifdef WEFT_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

namespace weft::world {

// Touched pages only cost memory. The solver and the sanitizers' frames need the most.
constexpr std::size_t kStackBytes = std::size_t{4} << 20;

// One page below the stack faults.
class Stack {
 public:
  Stack()
      : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
        base_(mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    WEFT_CHECK(base_ != MAP_FAILED);
    WEFT_CHECK(mprotect(base_, page_, PROT_NONE) == 0);
  }
  ~Stack() { munmap(base_, kStackBytes); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* low() const { return static_cast<char*>(base_) + page_; }
  std::size_t size() const { return kStackBytes - page_; }

 private:
  const std::size_t page_;
  void* const base_;
};

namespace {

void BeginSwitch([[maybe_unused]] void** kept, [[maybe_unused]] const void* low,
                 [[maybe_unused]] std::size_t size) {
#ifdef WEFT_ASAN
  __sanitizer_start_switch_fiber(kept, low, size);
#endif
}

void EndSwitch([[maybe_unused]] void* kept, [[maybe_unused]] const void** low,
               [[maybe_unused]] std::size_t* size) {
#ifdef WEFT_ASAN
  __sanitizer_finish_switch_fiber(kept, low, size);
#endif
}

constexpr unsigned kHalf = 32;

}  // namespace

struct Fiber {
  Stack stack;
  ucontext_t context{};
  void* kept = nullptr;  // the sanitizer's, while it does not run
  std::function<void()> work;
  Machine* machine = nullptr;
  std::uint64_t wait = 0;  // counts its waits
  bool waits = false;
  bool timed_out = false;
  bool ended = false;
  Fiber* joiner = nullptr;
};

struct Fibers::Loop {
  ucontext_t context{};
  void* kept = nullptr;
  const void* low = nullptr;
  std::size_t size = 0;
};

Fibers::Fibers(std::uint64_t seed) : loop_(std::make_unique<Loop>()), chance_(seed) {}
Fibers::~Fibers() = default;

void Fibers::At(Instant time, std::function<void()> call) {
  due_.emplace(std::pair(std::max(time, now_), ++order_), Due{nullptr, 0, std::move(call)});
}

std::unique_ptr<Fiber> Fibers::NewFiber() {
  if (spare_.empty()) return std::make_unique<Fiber>();
  std::unique_ptr<Fiber> fiber = std::move(spare_.back());
  spare_.pop_back();
  return fiber;
}

Fiber* Fibers::Start(Machine& machine, std::function<void()> work) {
  std::unique_ptr<Fiber> made = NewFiber();
  Fiber* fiber = made.get();
  fiber->work = std::move(work);
  fiber->machine = &machine;
  fiber->kept = nullptr;
  fiber->waits = fiber->timed_out = fiber->ended = false;
  fiber->joiner = nullptr;
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack.low();
  fiber->context.uc_stack.ss_size = fiber->stack.size();
  fiber->context.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Fibers::Entry), 2,
              static_cast<unsigned>(self >> kHalf), static_cast<unsigned>(self));
  fibers_.emplace(fiber, std::move(made));
  ++alive_;
  ready_.push_back(fiber);
  return fiber;
}

void Fibers::Entry(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fibers*>((static_cast<std::uintptr_t>(high) << kHalf) | low);
  EndSwitch(nullptr, &self->loop_->low, &self->loop_->size);
  try {
    self->current_->work();
  } catch (const std::exception& bug) {  // it would end the process
    std::fprintf(stderr, "a thread ended with an exception: %s\n", bug.what());
    std::abort();
  }
  self->BackToLoop(true);
}

void Fibers::Run(Fiber* fiber) {
  current_ = fiber;
  BeginSwitch(&loop_->kept, fiber->stack.low(), fiber->stack.size());
  swapcontext(&loop_->context, &fiber->context);
  EndSwitch(loop_->kept, nullptr, nullptr);
  current_ = nullptr;
  if (!fiber->ended) return;
  --alive_;
  fiber->work = nullptr;
  if (fiber->joiner != nullptr) Wake(fiber->joiner);
}

void Fibers::BackToLoop(bool ends) {
  Fiber* fiber = current_;
  fiber->ended = ends;
  BeginSwitch(ends ? nullptr : &fiber->kept, loop_->low, loop_->size);
  swapcontext(&fiber->context, &loop_->context);
  EndSwitch(fiber->kept, &loop_->low, &loop_->size);
}

bool Fibers::Step(Instant end) {
  if (!ready_.empty()) {
    const std::size_t chosen = chance_.Below(ready_.size());
    Fiber* fiber = ready_[chosen];
    ready_[chosen] = ready_.back();
    ready_.pop_back();
    if (fiber->machine->frozen_until_ > now_) {
      fiber->machine->frozen_.push_back(fiber);
    } else {
      Run(fiber);
    }
    return true;
  }
  if (due_.empty() || due_.begin()->first.first > end) {
    now_ = std::max(now_, end);
    return false;
  }
  const auto first = due_.begin();
  WEFT_CHECK(first->first.first >= now_);
  now_ = first->first.first;
  Due due = std::move(first->second);
  due_.erase(first);
  if (due.fiber == nullptr) {
    due.call();
  } else if (const auto found = fibers_.find(due.fiber);
             found != fibers_.end() && due.fiber->waits && due.fiber->wait == due.wait) {
    due.fiber->timed_out = true;
    Wake(due.fiber);
  }
  return true;
}

void Fibers::RunUntil(Instant end) {
  while (Step(end)) {
  }
}

bool Fibers::Park(Instant until) {
  Fiber* fiber = current_;
  WEFT_CHECK(fiber != nullptr);
  fiber->waits = true;
  fiber->timed_out = false;
  ++fiber->wait;
  if (until != Instant::max()) {
    due_.emplace(std::pair(std::max(until, now_), ++order_), Due{fiber, fiber->wait, nullptr});
  }
  BackToLoop(false);
  return !fiber->timed_out;
}

void Fibers::Sleep(Instant::duration time) { Park(now_ + time); }

void Fibers::Wake(Fiber* fiber) {
  if (!fiber->waits) return;
  fiber->waits = false;
  ready_.push_back(fiber);
}

void Fibers::Join(Fiber* fiber) {
  while (!fiber->ended) {
    fiber->joiner = current_;
    Park(Instant::max());
  }
  const auto found = fibers_.find(fiber);
  spare_.push_back(std::move(found->second));
  fibers_.erase(found);
}

namespace {

class FiberThread final : public run::Thread {
 public:
  FiberThread(Fibers& fibers, Fiber* fiber) : fibers_(fibers), fiber_(fiber) {}
  void Join() override { fibers_.Join(fiber_); }

 private:
  Fibers& fibers_;
  Fiber* const fiber_;
};

class FiberCondition final : public run::Condition {
 public:
  explicit FiberCondition(Machine& machine) : run::Condition(machine), fibers_(machine.fibers()) {}
  void NotifyOne() override {
    if (waiting_.empty()) return;
    fibers_.Wake(waiting_.front());
    waiting_.erase(waiting_.begin());
  }
  void NotifyAll() override {
    for (Fiber* fiber : waiting_) fibers_.Wake(fiber);
    waiting_.clear();
  }
  void Wait(std::unique_lock<std::mutex>& lock, Instant until) override {
    Fiber* fiber = fibers_.current();
    waiting_.push_back(fiber);
    lock.unlock();
    fibers_.Park(until);
    lock.lock();
    std::erase(waiting_, fiber);
  }

 private:
  Fibers& fibers_;
  std::vector<Fiber*> waiting_;
};

}  // namespace

WallMicros Machine::Wall() const {
  return epoch_ + ahead_ +
         std::chrono::duration_cast<std::chrono::microseconds>(fibers_.now().time_since_epoch())
             .count();
}

std::unique_ptr<run::Thread> Machine::Start(std::function<void()> work) {
  return std::make_unique<FiberThread>(fibers_, fibers_.Start(*this, std::move(work)));
}

std::unique_ptr<run::Condition> Machine::NewCondition() {
  return std::make_unique<FiberCondition>(*this);
}

void Machine::Freeze(Instant until) {
  frozen_until_ = std::max(frozen_until_, until);
  fibers_.At(frozen_until_, [this, alive = std::weak_ptr(alive_)] {
    if (alive.expired() || frozen_until_ > fibers_.now()) return;
    for (Fiber* fiber : frozen_) fibers_.ready_.push_back(fiber);
    frozen_.clear();
  });
}

}  // namespace weft::world
