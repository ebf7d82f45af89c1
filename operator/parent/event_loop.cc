#include "operator/parent/event_loop.h"

#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "operator/base/check.h"

namespace weft::parent {
namespace {

epoll_event EventOf(int fd, bool read, bool write) {
  epoll_event event{};
  event.events = (read ? EPOLLIN : 0U) | (write ? EPOLLOUT : 0U);
  event.data.fd = fd;
  return event;
}

}  // namespace

EventLoop::EventLoop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ >= 0) return;
  std::perror("weft-run: epoll_create1");
  std::exit(EXIT_FAILURE);
}

EventLoop::~EventLoop() { close(epoll_); }

void EventLoop::Watch(int fd, bool read, bool write, Handler handler) {
  const bool known = handlers_.contains(fd);
  epoll_event event = EventOf(fd, read, write);
  handlers_[fd] = std::make_shared<Handler>(std::move(handler));
  WEFT_CHECK(epoll_ctl(epoll_, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0);
}

void EventLoop::Change(int fd, bool read, bool write) {
  WEFT_CHECK(handlers_.contains(fd));
  epoll_event event = EventOf(fd, read, write);
  WEFT_CHECK(epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event) == 0);
}

void EventLoop::Forget(int fd) {
  if (handlers_.erase(fd) == 0) return;
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
}

void EventLoop::Wait(Time most) {
  std::array<epoll_event, 256> events{};
  const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                               static_cast<int>(most.count()));
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto found = handlers_.find(event.data.fd);
    if (found == handlers_.end()) continue;  // an earlier handler has forgotten it
    const std::shared_ptr<Handler> handler = found->second;
    (*handler)({(event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
                (event.events & (EPOLLOUT | EPOLLERR)) != 0});
  }
}

Time EventLoop::Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::duration_cast<Time>(std::chrono::seconds(now.tv_sec) +
                                          std::chrono::nanoseconds(now.tv_nsec));
}

int Descriptor::Release() { return std::exchange(fd_, -1); }

void Descriptor::Reset(int fd) {
  if (fd_ >= 0) close(fd_);
  fd_ = fd;
}

}  // namespace weft::parent
