#pragma once

#include <functional>
#include <map>
#include <memory>

#include "operator/inplace/time.h"

namespace weft::parent {

using inplace::Time;

// Waits for file descriptors with epoll(7). One thread; a handler may watch and forget any
// descriptor, its own too.
class EventLoop {
 public:
  struct Ready {
    bool read = false;  // also when the other side closed, or on an error
    bool write = false;
  };
  using Handler = std::function<void(Ready)>;

  // Ends the program with a message if the kernel gives no epoll descriptor.
  EventLoop();
  ~EventLoop();
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  void Watch(int fd, bool read, bool write, Handler handler);
  // Changes what a watched descriptor is watched for.
  void Change(int fd, bool read, bool write);
  void Forget(int fd);

  // Calls the handlers of what is ready, after waiting for at most `most`.
  void Wait(Time most);

  // CLOCK_MONOTONIC: does not go back.
  static Time Now();

 private:
  int epoll_;
  std::map<int, std::shared_ptr<Handler>> handlers_;
};

// A file descriptor that is closed with its owner.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { Reset(); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) Reset(other.Release());
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int Release();
  void Reset(int fd = -1);

 private:
  int fd_;
};

}  // namespace weft::parent
