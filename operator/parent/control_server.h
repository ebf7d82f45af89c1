#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "operator/inplace/coordinator.h"
#include "operator/inplace/http_call.h"
#include "operator/parent/stream.h"

namespace weft::parent {

// Listens for other parents (on worker 0) and for HTTP calls (on all), on one port. What is neither
// is closed.
class ControlServer {
 public:
  struct Events {
    // Null where this parent is not worker 0's: the protocol is then refused.
    std::function<void(inplace::LinkId, const inplace::Report&)> received;
    std::function<void(inplace::LinkId)> closed;
    std::function<std::string(const inplace::HttpCall&)> call;  // the whole answer
    std::function<void(const std::string&)> log;
  };
  ControlServer(EventLoop& loop, std::string token, std::size_t workers, Events events);
  ~ControlServer();

  // Errors: kTransient, the address cannot be listened on.
  Status Listen(const std::string& bind, int port);

  void Send(inplace::LinkId link, const inplace::Message& message, bool close);
  // Takes away what is closed, and what has said nothing in time. At least once a second.
  void Tick();

 private:
  struct Peer {
    std::unique_ptr<Stream> stream;
    Time opened{0};
    bool known = false;   // has sent a message with the token
    bool broken = false;  // to be taken away
  };

  void Accept();
  void Read(inplace::LinkId link, std::string& input);
  void ReadLines(inplace::LinkId link, std::string& input);
  void Log(const std::string& text);

  EventLoop& loop_;
  const std::string token_;
  const std::size_t most_peers_;
  Events events_;
  Descriptor listener_;
  std::map<inplace::LinkId, Peer> peers_;
  inplace::LinkId last_ = inplace::kOwnLink;
  Time next_log_{0};
};

}  // namespace weft::parent
