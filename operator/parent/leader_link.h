#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/inplace/message.h"
#include "operator/parent/resolver.h"
#include "operator/parent/stream.h"

namespace weft::parent {

// The connection of a worker's parent to that of worker 0. Where there is none it looks worker 0's
// name up again and connects, twice a second, without end.
class LeaderLink {
 public:
  struct Events {
    std::function<std::string()> host;  // of worker 0, asked before each look-up
    std::function<void()> connected;
    std::function<void()> disconnected;
    std::function<void(const inplace::Message&)> received;
    std::function<void(const std::string&)> log;
  };
  LeaderLink(EventLoop& loop, int port, std::string token, Events events);

  // Time limits and retries. At least every 100 ms.
  void Tick();
  // Lost if there is no connection.
  void Send(const inplace::Report& report);
  // Gives the connection up; a new one is made.
  void Drop();

 private:
  void Look();
  void ConnectNext();
  void Established();
  void Read(std::string& input);
  void Retry(const std::string& why);

  EventLoop& loop_;
  const int port_;
  const std::string token_;
  Events events_;
  Resolver resolver_;
  std::vector<Address> addresses_;  // of the last look-up, not tried yet
  Descriptor connecting_;
  std::unique_ptr<Stream> stream_;
  bool broken_ = false;  // the stream is to be taken away
  bool looking_ = false;
  Time next_{0};  // of the next look-up, or the end of this one's patience
  std::string last_log_;
};

}  // namespace weft::parent
