#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

// A list whose values are immutable and shared with other lists: a copy costs one pointer per
// value. It is read like a vector<const T>.
// Thread-safety  as of a vector.
template <typename T>
class SharedList {
 public:
  using value_type = T;
  class Iterator {
   public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = const T&;

    Iterator() = default;
    explicit Iterator(const std::shared_ptr<const T>* at) : at_(at) {}
    const T& operator*() const { return **at_; }
    const T* operator->() const { return at_->get(); }
    const T& operator[](std::ptrdiff_t n) const { return *at_[n]; }
    Iterator& operator++() { return *this += 1; }
    Iterator& operator--() { return *this += -1; }
    Iterator operator++(int) { return Iterator(at_++); }
    Iterator operator--(int) { return Iterator(at_--); }
    Iterator& operator+=(std::ptrdiff_t n) {
      at_ += n;
      return *this;
    }
    Iterator& operator-=(std::ptrdiff_t n) { return *this += -n; }
    friend Iterator operator+(Iterator i, std::ptrdiff_t n) { return i += n; }
    friend Iterator operator+(std::ptrdiff_t n, Iterator i) { return i += n; }
    friend Iterator operator-(Iterator i, std::ptrdiff_t n) { return i -= n; }
    friend std::ptrdiff_t operator-(Iterator a, Iterator b) { return a.at_ - b.at_; }
    friend auto operator<=>(Iterator, Iterator) = default;

   private:
    const std::shared_ptr<const T>* at_ = nullptr;
  };

  SharedList() = default;
  SharedList(std::initializer_list<T> values) : SharedList(values.begin(), values.end()) {}
  SharedList(std::vector<T> values)  // NOLINT: implicit on purpose
      : SharedList(std::move_iterator(values.begin()), std::move_iterator(values.end())) {}
  template <std::input_iterator From>
  SharedList(From first, From last) {
    for (; first != last; ++first) push_back(*first);
  }

  void push_back(T value) { values_.push_back(std::make_shared<const T>(std::move(value))); }
  void push_back(std::shared_ptr<const T> value) { values_.push_back(std::move(value)); }
  void reserve(std::size_t size) { values_.reserve(size); }

  std::size_t size() const { return values_.size(); }
  bool empty() const { return values_.empty(); }
  const T& operator[](std::size_t i) const { return *values_[i]; }
  const T& front() const { return *values_.front(); }
  const T& back() const { return *values_.back(); }
  Iterator begin() const { return Iterator(values_.data()); }
  Iterator end() const { return Iterator(values_.data() + values_.size()); }

  const std::shared_ptr<const T>& Share(std::size_t i) const { return values_[i]; }
  void Replace(std::size_t i, std::shared_ptr<const T> value) { values_[i] = std::move(value); }
  // The i-th value, for a change in this list only: first replaces the shared value by a copy.
  T& Edit(std::size_t i) {
    auto own = std::make_shared<T>(*values_[i]);
    values_[i] = own;
    return *own;
  }

 private:
  std::vector<std::shared_ptr<const T>> values_;
};

}  // namespace weft
