#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "operator/parent/event_loop.h"

namespace weft::parent {

// A connected TCP socket that never blocks, with bounded buffers.
class Stream {
 public:
  struct Events {
    // Bytes have come: `input` holds all that were not taken out of it yet.
    std::function<void(std::string& input)> received;
    // The other side has closed, an error, or too many bytes in a buffer. Called at most once, and
    // never by Close. The stream may be destroyed only after the handler has returned.
    std::function<void()> closed;
  };
  static constexpr std::size_t kMostInput = 16 * 1024, kMostOutput = 256 * 1024;

  Stream(EventLoop& loop, Descriptor socket, Events events);
  ~Stream() { Close(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void Send(std::string_view bytes);
  // Closes once all is sent, or after the other side has closed.
  void CloseWhenSent();
  void Close();
  bool open() const { return static_cast<bool>(socket_); }

 private:
  void Handle(EventLoop::Ready ready);
  bool ReadAll();
  bool WriteAll();
  void Break();

  EventLoop& loop_;
  Descriptor socket_;
  Events events_;
  std::string input_, output_;
  bool closing_ = false;
};

}  // namespace weft::parent
