#include "operator/parent/stream.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <utility>

namespace weft::parent {
namespace {

bool IsForLater(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Stream::Stream(EventLoop& loop, Descriptor socket, Events events)
    : loop_(loop), socket_(std::move(socket)), events_(std::move(events)) {
  const int on = 1;  // a message is a few bytes, and the next waits for its answer
  setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  loop_.Watch(socket_.get(), true, false, [this](EventLoop::Ready ready) { Handle(ready); });
}

void Stream::Close() {
  if (!socket_) return;
  loop_.Forget(socket_.get());
  socket_.Reset();
}

void Stream::Break() {
  if (!socket_) return;
  Close();
  if (events_.closed) events_.closed();
}

void Stream::Send(std::string_view bytes) {
  if (!socket_ || closing_) return;
  output_ += bytes;
  // A failure is seen by the loop, so that no handler is called within Send.
  if (output_.size() <= kMostOutput) WriteAll();
  if (socket_) loop_.Change(socket_.get(), true, !output_.empty());
}

void Stream::CloseWhenSent() {
  closing_ = true;
  if (socket_) loop_.Change(socket_.get(), true, true);
}

void Stream::Handle(EventLoop::Ready ready) {
  if (output_.size() > kMostOutput) return Break();
  if (ready.write) {
    if (!WriteAll() || (closing_ && output_.empty())) return Break();
    loop_.Change(socket_.get(), true, !output_.empty());
  }
  if (!ready.read) return;
  const bool more_may_come = ReadAll();
  if (!closing_ && !input_.empty()) events_.received(input_);
  if (!more_may_come || input_.size() > kMostInput) Break();
}

bool Stream::ReadAll() {
  std::array<char, 4096> bytes{};
  while (input_.size() <= kMostInput) {
    const ssize_t got = recv(socket_.get(), bytes.data(), bytes.size(), 0);
    if (got < 0) return IsForLater(errno);
    if (got == 0) return false;
    if (!closing_) input_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return true;
}

bool Stream::WriteAll() {
  while (!output_.empty()) {
    const ssize_t sent = send(socket_.get(), output_.data(), output_.size(), MSG_NOSIGNAL);
    if (sent < 0) return IsForLater(errno);
    output_.erase(0, static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace weft::parent
