#pragma once

#include <memory>
#include <utility>

namespace weft {

// A value that few objects have: one pointer, shared with copies, and null where the value is T{}.
// Equal if the values are.
template <typename T>
class Rare {
 public:
  Rare() = default;
  Rare(T value)  // NOLINT: implicit on purpose
      : value_(value == T{} ? nullptr : std::make_shared<const T>(std::move(value))) {}

  bool present() const { return value_ != nullptr; }
  const T& operator*() const {
    static const T kNone{};
    return value_ ? *value_ : kNone;
  }
  const T* operator->() const { return &**this; }
  // Null if the value is T{}; lives as long as a copy of this object.
  const T* get() const { return value_.get(); }

  friend bool operator==(const Rare& a, const Rare& b) { return a.value_ == b.value_ || *a == *b; }

 private:
  std::shared_ptr<const T> value_;
};

}  // namespace weft
