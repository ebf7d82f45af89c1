#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace weft {

// A map from text to text (such as labels), ascending by key, in one block of memory. A cluster has
// a million entries, and a tree would need four times the memory.
//
// Cost    find and Set are linear in the size; the block holds the texts and eight bytes per entry.
class TextMap {
 public:
  using Entry = std::pair<std::string_view, std::string_view>;

  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    Iterator() = default;
    explicit Iterator(const char* at, const char* end) : at_(at), end_(end) { Read(); }

    reference operator*() const { return entry_; }
    pointer operator->() const { return &entry_; }
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class TextMap;
    void Read();

    const char* at_ = nullptr;
    const char* end_ = nullptr;
    Entry entry_;
  };
  using const_iterator = Iterator;
  using value_type = Entry;

  TextMap() = default;
  TextMap(std::initializer_list<Entry> entries) {
    for (const auto& [key, value] : entries) Set(key, value);
  }
  TextMap(const std::map<std::string, std::string>& texts) {  // NOLINT: the same thing, packed
    for (const auto& [key, value] : texts) Append(key, value);
  }

  bool empty() const { return bytes_.empty(); }
  std::size_t size() const { return static_cast<std::size_t>(std::distance(begin(), end())); }
  Iterator begin() const { return Iterator(bytes_.data(), bytes_.data() + bytes_.size()); }
  Iterator end() const {
    return Iterator(bytes_.data() + bytes_.size(), bytes_.data() + bytes_.size());
  }
  Iterator find(std::string_view key) const;
  Iterator lower_bound(std::string_view key) const;
  bool contains(std::string_view key) const { return find(key) != end(); }
  std::optional<std::string_view> At(std::string_view key) const;

  void Set(std::string_view key, std::string_view value);  // inserts or replaces
  void Add(std::string_view key, std::string_view value);  // only inserts
  void Erase(std::string_view key);
  // Removes all entries for which `keep(key, value)` is false, and shrinks the block. Linear.
  template <typename Keep>
  void KeepIf(Keep keep) {
    TextMap kept;
    for (const auto& [key, value] : *this) {
      if (keep(key, value)) kept.Append(key, value);
    }
    bytes_.swap(kept.bytes_);  // assigning a short text would keep the block of the long one
    Trim();
  }
  void Trim() { bytes_.shrink_to_fit(); }

  friend bool operator==(const TextMap&, const TextMap&) = default;

  // Writes an object, as nlohmann::json does for a std::map; by default it would write an array of
  // pairs.
  template <typename Json>
  friend void to_json(Json& json, const TextMap& texts) {
    json = Json::object();
    for (const auto& [key, value] : texts) json[std::string(key)] = value;
  }

 private:
  void Append(std::string_view key, std::string_view value);

  std::string bytes_;  // per entry: two lengths of four bytes, key, value
};

}  // namespace weft
