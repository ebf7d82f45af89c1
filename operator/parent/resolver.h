#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <netinet/in.h>
#include <sys/socket.h>

#include "operator/parent/event_loop.h"

struct ares_channeldata;

namespace weft::parent {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;
};

// Looks a name up in /etc/hosts and by DNS without blocking, by c-ares: the C library's resolver
// loads modules of its own version at run time, which a static program in another's container
// cannot.
class Resolver {
 public:
  explicit Resolver(EventLoop& loop) : loop_(loop) {}
  ~Resolver() { Cancel(); }
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  using Answer = std::function<void(std::vector<Address>)>;
  // Calls `answer` from Tick, with nothing if the name is not found within a few seconds. Ends an
  // earlier look-up. resolv.conf and hosts are read anew each time.
  void Look(const std::string& name, int port, Answer answer);
  void Cancel();
  // c-ares' own time limits, and answers. Often.
  void Tick();

 private:
  static void Socket(void* self, int fd, int readable, int writable);

  EventLoop& loop_;
  ares_channeldata* channel_ = nullptr;
  std::vector<int> sockets_;
  bool answered_ = false;
  std::vector<Address> addresses_;
  Answer answer_;
};

}  // namespace weft::parent
