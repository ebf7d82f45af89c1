#pragma once

#include <cpprest/astreambuf.h>

#include <memory>
#include <string>
#include <utility>

namespace weft::kube {

// An output buffer for cpprestsdk that hands every piece of a body on at once: constant memory, and
// a sink that returns late holds the peer back. Only to be included where the library is.
template <typename Sink>  // void(const char*, std::size_t); must not throw
class PushBuffer : public Concurrency::streams::details::streambuf_state_manager<std::uint8_t> {
  using Base = Concurrency::streams::details::streambuf_state_manager<std::uint8_t>;

 public:
  explicit PushBuffer(Sink sink) : Base(std::ios_base::out), sink_(std::move(sink)) {}

  bool can_seek() const override { return false; }
  bool has_size() const override { return false; }
  std::size_t buffer_size(std::ios_base::openmode) const override { return 0; }
  void set_buffer_size(std::size_t, std::ios_base::openmode) override {}
  std::size_t in_avail() const override { return 0; }
  pos_type getpos(std::ios_base::openmode) const override { return pos_type(-1); }
  pos_type seekpos(pos_type, std::ios_base::openmode) override { return pos_type(-1); }
  pos_type seekoff(off_type, std::ios_base::seekdir, std::ios_base::openmode) override {
    return pos_type(-1);
  }
  bool acquire(std::uint8_t*& bytes, std::size_t& count) override {
    bytes = nullptr;
    count = 0;
    return false;
  }
  void release(std::uint8_t*, std::size_t) override {}

 protected:
  pplx::task<std::size_t> _putn(const std::uint8_t* bytes, std::size_t count) override {
    sink_(reinterpret_cast<const char*>(bytes), count);
    return pplx::task_from_result(count);
  }
  pplx::task<int_type> _putc(std::uint8_t byte) override {
    sink_(reinterpret_cast<const char*>(&byte), 1);
    return pplx::task_from_result<int_type>(byte);
  }
  pplx::task<bool> _sync() override { return pplx::task_from_result(true); }
  std::uint8_t* _alloc(std::size_t) override { return nullptr; }
  void _commit(std::size_t) override {}
  pplx::task<int_type> _bumpc() override { return None(); }
  int_type _sbumpc() override { return -1; }
  pplx::task<int_type> _getc() override { return None(); }
  int_type _sgetc() override { return -1; }
  pplx::task<int_type> _nextc() override { return None(); }
  pplx::task<int_type> _ungetc() override { return None(); }
  pplx::task<std::size_t> _getn(std::uint8_t*, std::size_t) override {
    return pplx::task_from_result<std::size_t>(0);
  }
  std::size_t _scopy(std::uint8_t*, std::size_t) override { return 0; }

 private:
  static pplx::task<int_type> None() { return pplx::task_from_result<int_type>(-1); }

  Sink sink_;
};

}  // namespace weft::kube
