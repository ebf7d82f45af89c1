#include "operator/parent/control_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>
#include <utility>
#include <vector>

namespace weft::parent {
namespace {

// Of connections that are not yet known as parents of the gang.
constexpr std::size_t kMostStrangers = 64;
constexpr Time kStrangersPatience{5'000};
constexpr Time kLogPeriod{1'000};

Descriptor ListenOn(const sockaddr* address, socklen_t length) {
  Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  const int on = 1, off = 0;
  setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address->sa_family == AF_INET6) {
    setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  }
  if (bind(socket.get(), address, length) != 0 || listen(socket.get(), 4096) != 0) {
    return Descriptor();
  }
  return socket;
}

Descriptor ListenOn(const std::string& bind, int port) {
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(static_cast<std::uint16_t>(port));
  v6.sin6_addr = in6addr_any;
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  const auto* as_v6 = reinterpret_cast<const sockaddr*>(&v6);
  const auto* as_v4 = reinterpret_cast<const sockaddr*>(&v4);
  if (bind.empty()) {
    Descriptor both = ListenOn(as_v6, sizeof v6);
    return both ? std::move(both) : ListenOn(as_v4, sizeof v4);
  }
  if (inet_pton(AF_INET, bind.c_str(), &v4.sin_addr) == 1) return ListenOn(as_v4, sizeof v4);
  if (inet_pton(AF_INET6, bind.c_str(), &v6.sin6_addr) == 1) return ListenOn(as_v6, sizeof v6);
  errno = EADDRNOTAVAIL;
  return Descriptor();
}

}  // namespace

ControlServer::ControlServer(EventLoop& loop, std::string token, std::size_t workers, Events events)
    : loop_(loop),
      token_(std::move(token)),
      most_peers_(2 * workers + kMostStrangers),
      events_(std::move(events)) {}

ControlServer::~ControlServer() {
  if (listener_) loop_.Forget(listener_.get());
}

Status ControlServer::Listen(const std::string& bind, int port) {
  listener_ = ListenOn(bind, port);
  if (!listener_) {
    return Error{ErrorKind::kTransient, "cannot listen on " + (bind.empty() ? "port" : bind) + " " +
                                            std::to_string(port) + ": " + std::strerror(errno)};
  }
  loop_.Watch(listener_.get(), true, false, [this](EventLoop::Ready) { Accept(); });
  return {};
}

void ControlServer::Log(const std::string& text) {
  // Anybody may connect: that must not fill the log.
  const Time now = EventLoop::Now();
  if (now < next_log_) return;
  next_log_ = now + kLogPeriod;
  events_.log(text);
}

void ControlServer::Accept() {
  while (true) {
    Descriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      // None is left to open. The connection waits, and the loop must not turn for it.
      if (errno == EMFILE || errno == ENFILE) loop_.Change(listener_.get(), false, false);
      return;
    }
    if (peers_.size() >= most_peers_) {
      Log("closed a connection: there are " + std::to_string(peers_.size()) + " already");
      continue;
    }
    const inplace::LinkId link = ++last_;
    Peer& peer = peers_[link];
    peer.opened = EventLoop::Now();
    peer.stream = std::make_unique<Stream>(
        loop_, std::move(socket),
        Stream::Events{.received = [this, link](std::string& input) { Read(link, input); },
                       .closed = [this, link] { peers_[link].broken = true; }});
  }
}

void ControlServer::Read(inplace::LinkId link, std::string& input) {
  Peer& peer = peers_[link];
  const std::optional<bool> http = peer.known ? false : inplace::IsHttp(input);
  if (!http) return;
  if (!*http) return ReadLines(link, input);
  if (const auto call = inplace::ParseHttpCall(input, token_)) {
    peer.stream->Send(events_.call(*call));
    peer.stream->CloseWhenSent();
    input.clear();
  }
}

void ControlServer::ReadLines(inplace::LinkId link, std::string& input) {
  Peer& peer = peers_[link];
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = input.find('\n', begin)) != std::string::npos;) {
    const auto message =
        inplace::Decode(std::string_view(input).substr(begin, end - begin), token_);
    begin = end + 1;
    const auto* report = message ? std::get_if<inplace::Report>(&*message) : nullptr;
    if (report == nullptr || !events_.received) {
      Log("closed a connection: " + (message ? "not a worker's report" : message.error().message));
      peer.broken = true;
      return;
    }
    peer.known = true;
    events_.received(link, *report);
    if (peer.broken) return;
  }
  input.erase(0, begin);
  if (input.size() > inplace::kMaxLineBytes) peer.broken = true;
}

void ControlServer::Send(inplace::LinkId link, const inplace::Message& message, bool close) {
  const auto peer = peers_.find(link);
  if (peer == peers_.end() || peer->second.broken) return;
  peer->second.stream->Send(inplace::Encode(message, token_));
  if (close) peer->second.stream->CloseWhenSent();
}

void ControlServer::Tick() {
  const Time now = EventLoop::Now();
  std::vector<inplace::LinkId> gone;
  for (const auto& [link, peer] : peers_) {
    const bool late = !peer.known && now - peer.opened >= kStrangersPatience;
    if (peer.broken || late) gone.push_back(link);
  }
  for (const inplace::LinkId link : gone) {
    peers_.erase(link);
    if (events_.closed) events_.closed(link);
  }
  if (listener_) loop_.Change(listener_.get(), true, false);
}

}  // namespace weft::parent
