#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace weft {

// A dense index of one kind of thing. Indexes of different tags are different types: they do not
// convert into each other, into integers, or from integers unless one asks for it.
//
// Shapes: the tag may be an incomplete type; it only names the kind. A default index is 0. ++, --,
// + and - count places; like those of std::uint32_t they wrap, so `for (T t = end; t-- > T{0};)`
// works.
// Cost: that of std::uint32_t.
template <typename Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(std::uint32_t raw) : raw_(raw) {}
  // From the size of a container, which is at most 2^32 - 1.
  static constexpr Index Of(std::size_t place) { return Index(static_cast<std::uint32_t>(place)); }

  constexpr std::uint32_t Raw() const { return raw_; }

  constexpr Index& operator++() {
    ++raw_;
    return *this;
  }
  constexpr Index& operator--() {
    --raw_;
    return *this;
  }
  constexpr Index operator++(int) { return Index(raw_++); }
  constexpr Index operator--(int) { return Index(raw_--); }

  friend constexpr bool operator==(Index, Index) = default;
  friend constexpr auto operator<=>(Index, Index) = default;
  friend constexpr Index operator+(Index a, std::uint32_t places) { return Index(a.raw_ + places); }
  friend constexpr Index operator-(Index a, std::uint32_t places) { return Index(a.raw_ - places); }
  friend constexpr std::uint32_t operator-(Index a, Index b) { return a.raw_ - b.raw_; }

 private:
  std::uint32_t raw_ = 0;
};

// The indexes [first, last), for `for (Tier t : Range<Tier>(n))`.
template <typename I>
class IndexRange {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(I at) : at_(at) {}
    constexpr I operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    friend constexpr bool operator==(Iterator, Iterator) = default;

   private:
    I at_;
  };

  constexpr IndexRange(I first, I last) : first_(first), last_(last) {}
  constexpr Iterator begin() const { return Iterator(first_); }
  constexpr Iterator end() const { return Iterator(last_); }

 private:
  I first_;
  I last_;
};

template <typename I>
constexpr IndexRange<I> Range(std::size_t size) {
  return IndexRange<I>(I{}, I::Of(size));
}

// A std::vector that only an I may index. Cost: that of std::vector.
template <typename I, typename T>
class IndexVector : private std::vector<T> {
  using Base = std::vector<T>;

 public:
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::value_type;

  using Base::Base;
  IndexVector() = default;
  explicit IndexVector(Base items) : Base(std::move(items)) {}
  // With items for all indexes before `stop`.
  explicit IndexVector(I stop) : Base(stop.Raw()) {}
  IndexVector(I stop, const T& item) : Base(stop.Raw(), item) {}

  using Base::assign;
  using Base::back;
  using Base::begin;
  using Base::clear;
  using Base::data;
  using Base::emplace_back;
  using Base::empty;
  using Base::end;
  using Base::front;
  using Base::insert;
  using Base::pop_back;
  using Base::push_back;
  using Base::rbegin;
  using Base::rend;
  using Base::reserve;
  using Base::resize;
  using Base::shrink_to_fit;
  using Base::size;

  void resize(I stop) { Base::resize(stop.Raw()); }
  void resize(I stop, const T& item) { Base::resize(stop.Raw(), item); }
  void assign(I stop, const T& item) { Base::assign(stop.Raw(), item); }
  constexpr decltype(auto) operator[](I i) { return Base::operator[](i.Raw()); }
  constexpr decltype(auto) operator[](I i) const { return Base::operator[](i.Raw()); }

  // One past the last index.
  constexpr I EndIndex() const { return I::Of(size()); }
  constexpr IndexRange<I> Indices() const { return Range<I>(size()); }
  // The items in order, for whoever does not index them.
  const Base& Items() const { return *this; }

  friend bool operator==(const IndexVector&, const IndexVector&) = default;
  friend auto operator<=>(const IndexVector&, const IndexVector&) = default;
};

// A std::span that only an I may index.
template <typename I, typename T>
class IndexSpan {
 public:
  constexpr IndexSpan() = default;
  constexpr explicit IndexSpan(std::span<T> items) : items_(items) {}
  template <typename U>
  constexpr IndexSpan(const IndexVector<I, U>& items) : items_(items.data(), items.size()) {}
  template <typename U>
  constexpr IndexSpan(IndexVector<I, U>& items) : items_(items.data(), items.size()) {}

  constexpr T& operator[](I i) const { return items_[i.Raw()]; }
  constexpr T& front() const { return items_.front(); }
  constexpr T& back() const { return items_.back(); }
  constexpr std::size_t size() const { return items_.size(); }
  constexpr bool empty() const { return items_.empty(); }
  constexpr auto begin() const { return items_.begin(); }
  constexpr auto end() const { return items_.end(); }
  constexpr I EndIndex() const { return I::Of(size()); }
  constexpr IndexRange<I> Indices() const { return Range<I>(size()); }
  constexpr std::span<T> Items() const { return items_; }

 private:
  std::span<T> items_;
};

}  // namespace weft

template <typename Tag>
struct std::hash<weft::Index<Tag>> {
  std::size_t operator()(weft::Index<Tag> index) const noexcept {
    return std::hash<std::uint32_t>{}(index.Raw());
  }
};
