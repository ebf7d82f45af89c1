#include "operator/parent/resolver.h"

#include <ares.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::parent {
namespace {

constexpr int kTimeoutMs = 1'000, kTries = 3;

}  // namespace

void Resolver::Socket(void* self, int fd, int readable, int writable) {
  auto* resolver = static_cast<Resolver*>(self);
  auto& sockets = resolver->sockets_;
  if (readable == 0 && writable == 0) {
    resolver->loop_.Forget(fd);
    std::erase(sockets, fd);
    return;
  }
  if (std::find(sockets.begin(), sockets.end(), fd) == sockets.end()) sockets.push_back(fd);
  resolver->loop_.Watch(fd, readable != 0, writable != 0, [resolver, fd](EventLoop::Ready ready) {
    ares_process_fd(resolver->channel_, ready.read ? fd : ARES_SOCKET_BAD,
                    ready.write ? fd : ARES_SOCKET_BAD);
  });
}

void Resolver::Look(const std::string& name, int port, Answer answer) {
  Cancel();
  answer_ = std::move(answer);
  ares_options options{};
  options.timeout = kTimeoutMs;
  options.tries = kTries;
  options.sock_state_cb = &Resolver::Socket;
  options.sock_state_cb_data = this;
  if (ares_init_options(&channel_, &options,
                        ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB) !=
      ARES_SUCCESS) {
    channel_ = nullptr;
    answered_ = true;
    return;
  }
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = ARES_AI_NUMERICSERV;
  const auto done = [](void* self, int status, int, ares_addrinfo* found) {
    auto* resolver = static_cast<Resolver*>(self);
    resolver->answered_ = status != ARES_EDESTRUCTION;
    if (status != ARES_SUCCESS) return;
    for (const ares_addrinfo_node* node = found->nodes; node != nullptr; node = node->ai_next) {
      Address address;
      if (node->ai_addrlen > sizeof address.storage) continue;
      std::memcpy(&address.storage, node->ai_addr, node->ai_addrlen);
      address.length = node->ai_addrlen;
      resolver->addresses_.push_back(address);
    }
    ares_freeaddrinfo(found);
  };
  ares_getaddrinfo(channel_, name.c_str(), std::to_string(port).c_str(), &hints, done, this);
}

void Resolver::Cancel() {
  if (channel_ != nullptr) ares_destroy(std::exchange(channel_, nullptr));
  for (const int fd : std::exchange(sockets_, {})) loop_.Forget(fd);
  addresses_.clear();
  answered_ = false;
  answer_ = nullptr;
}

void Resolver::Tick() {
  if (channel_ != nullptr && !answered_) {
    ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
  }
  if (!answered_) return;
  const Answer answer = std::exchange(answer_, nullptr);
  const std::vector<Address> addresses = std::exchange(addresses_, {});
  Cancel();
  if (answer) answer(addresses);
}

}  // namespace weft::parent
