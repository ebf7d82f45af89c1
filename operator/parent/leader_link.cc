#include "operator/parent/leader_link.h"

#include <errno.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>

namespace weft::parent {
namespace {

constexpr Time kRetry{500}, kConnectPatience{3'000};

}  // namespace

LeaderLink::LeaderLink(EventLoop& loop, int port, std::string token, Events events)
    : loop_(loop),
      port_(port),
      token_(std::move(token)),
      events_(std::move(events)),
      resolver_(loop) {}

void LeaderLink::Tick() {
  if (broken_) {
    broken_ = false;
    stream_.reset();
    events_.disconnected();
    Retry("the connection was closed");
  }
  resolver_.Tick();
  if (stream_ || looking_ || EventLoop::Now() < next_) return;
  if (connecting_) {
    loop_.Forget(connecting_.get());
    connecting_.Reset();
    if (addresses_.empty()) return Retry("no answer");
    return ConnectNext();
  }
  Look();
}

void LeaderLink::Look() {
  const std::string host = events_.host();
  if (host.empty()) return Retry("no name of worker 0");
  looking_ = true;
  resolver_.Look(host, port_, [this, host](std::vector<Address> addresses) {
    looking_ = false;
    addresses_ = std::move(addresses);
    if (addresses_.empty()) return Retry("no address of " + host);
    ConnectNext();
  });
}

// A name may have the addresses of a lost worker and of its replacement: all are tried in turn.
void LeaderLink::ConnectNext() {
  const Address address = addresses_.front();
  addresses_.erase(addresses_.begin());
  Descriptor socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return Retry(std::strerror(errno));
  const auto* to = reinterpret_cast<const sockaddr*>(&address.storage);
  if (connect(socket.get(), to, address.length) != 0 && errno != EINPROGRESS) {
    if (addresses_.empty()) return Retry(std::strerror(errno));
    return ConnectNext();
  }
  connecting_ = std::move(socket);
  next_ = EventLoop::Now() + kConnectPatience;
  loop_.Watch(connecting_.get(), false, true, [this](EventLoop::Ready) { Established(); });
}

void LeaderLink::Established() {
  int error = 0;
  socklen_t length = sizeof error;
  getsockopt(connecting_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  loop_.Forget(connecting_.get());
  Descriptor socket = std::move(connecting_);
  if (error != 0) {
    if (addresses_.empty()) return Retry(std::strerror(error));
    return ConnectNext();
  }
  stream_ = std::make_unique<Stream>(
      loop_, std::move(socket),
      Stream::Events{.received = [this](std::string& input) { Read(input); },
                     .closed = [this] { broken_ = true; }});
  events_.connected();
}

void LeaderLink::Read(std::string& input) {
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = input.find('\n', begin)) != std::string::npos;) {
    const auto message =
        inplace::Decode(std::string_view(input).substr(begin, end - begin), token_);
    begin = end + 1;
    if (!message) {
      events_.log("worker 0 sent " + message.error().message);
      broken_ = true;
      return;
    }
    last_log_.clear();
    events_.received(*message);
  }
  input.erase(0, begin);
  if (input.size() > inplace::kMaxLineBytes) broken_ = true;
}

void LeaderLink::Retry(const std::string& why) {
  next_ = EventLoop::Now() + kRetry;
  if (why == last_log_) return;  // once, not twice a second
  last_log_ = why;
  events_.log("no connection to worker 0 (" + events_.host() + "): " + why + "; trying again");
}

void LeaderLink::Send(const inplace::Report& report) {
  if (stream_ && !broken_) stream_->Send(inplace::Encode(report, token_));
}

void LeaderLink::Drop() {
  if (stream_) broken_ = true;
}

}  // namespace weft::parent
