#include "operator/base/text_map.h"

#include <cstring>

namespace weft {
namespace {

constexpr std::size_t kLengths = 2 * sizeof(std::uint32_t);

std::string Packed(std::string_view key, std::string_view value) {
  const std::uint32_t lengths[] = {static_cast<std::uint32_t>(key.size()),
                                   static_cast<std::uint32_t>(value.size())};
  std::string bytes(kLengths, '\0');
  std::memcpy(bytes.data(), lengths, kLengths);
  return bytes.append(key).append(value);
}

std::size_t SizeOf(const TextMap::Entry& entry) {
  return kLengths + entry.first.size() + entry.second.size();
}

}  // namespace

void TextMap::Iterator::Read() {
  if (at_ == end_) return;
  std::uint32_t lengths[2];
  std::memcpy(lengths, at_, kLengths);
  entry_ = {{at_ + kLengths, lengths[0]}, {at_ + kLengths + lengths[0], lengths[1]}};
}

TextMap::Iterator& TextMap::Iterator::operator++() {
  at_ += SizeOf(entry_);
  Read();
  return *this;
}

TextMap::Iterator TextMap::lower_bound(std::string_view key) const {
  Iterator at = begin();
  while (at != end() && at->first < key) ++at;
  return at;
}

TextMap::Iterator TextMap::find(std::string_view key) const {
  Iterator at = begin();
  while (at != end() && at->first != key) ++at;
  return at;
}

std::optional<std::string_view> TextMap::At(std::string_view key) const {
  const Iterator found = find(key);
  return found == end() ? std::nullopt : std::optional(found->second);
}

void TextMap::Set(std::string_view key, std::string_view value) {
  const std::string packed = Packed(key, value);  // first, as both may point into bytes_
  const Iterator at = lower_bound(key);
  const auto offset = static_cast<std::size_t>(at.at_ - bytes_.data());
  const bool there = at != end() && at->first == key;
  bytes_.replace(offset, there ? SizeOf(*at) : 0, packed);
}

void TextMap::Add(std::string_view key, std::string_view value) {
  if (!contains(key)) Set(key, value);
}

void TextMap::Erase(std::string_view key) {
  const Iterator at = find(key);
  if (at == end()) return;
  bytes_.erase(static_cast<std::size_t>(at.at_ - bytes_.data()), SizeOf(*at));
}

void TextMap::Append(std::string_view key, std::string_view value) { bytes_ += Packed(key, value); }

}  // namespace weft
