#include "operator/manifest/yaml_anchors.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::manifest {

using Type = YamlPart::Type;

void YamlAnchors::StartDocument() {
  parts_.clear();
  values_.clear();
  by_name_.clear();
  open_.clear();
  kept_.reset();
  depth_ = kept_bytes_ = 0;
  values_so_far_ = bytes_so_far_ = 0;
  full_ = keep_next_ = false;
}

void YamlAnchors::Record(const YamlPart& part) {
  if (part.type == Type::kEnd) {
    --depth_;
  } else {
    if (part.type != Type::kAlias && !part.anchor.empty()) Begin(part.anchor, part.line);
    if (std::exchange(keep_next_, false)) Begin("", part.line);
  }
  if (open_.empty()) {
    if (part.type == Type::kMap || part.type == Type::kList) ++depth_;
    return;
  }
  Keep(part);
  if (part.type == Type::kMap || part.type == Type::kList) ++depth_;
  while (!open_.empty() && open_.back().depth == depth_) Close();
}

void YamlAnchors::Begin(std::string_view name, std::size_t line) {
  open_.push_back({values_.size(), depth_});
  if (!name.empty()) by_name_.insert_or_assign(std::string(name), values_.size());
  // The size so far is taken off at the end.
  values_.push_back({std::string(name), line, {parts_.size(), 0}, values_so_far_, bytes_so_far_});
}

void YamlAnchors::Keep(const YamlPart& part) {
  const std::size_t bytes = part.tag.size() + part.text.size();
  std::size_t value = 0;
  if (part.type == Type::kAlias) {
    value = by_name_.find(part.anchor)->second;
    values_so_far_ += values_[value].values;
    bytes_so_far_ += values_[value].bytes;
  } else if (part.type != Type::kEnd) {
    ++values_so_far_;
    bytes_so_far_ += bytes;
  }
  // A map has as many ends as starts, which are not values.
  full_ = full_ || parts_.size() > 2 * limits_.alias_values ||
          kept_bytes_ + bytes > limits_.alias_bytes;
  if (full_) return;
  kept_bytes_ += bytes;
  parts_.push_back({part, std::string(part.tag), std::string(part.text), value});
}

void YamlAnchors::Close() {
  Value& value = values_[open_.back().value];
  open_.pop_back();
  value.span.end = std::max(parts_.size(), value.span.begin + 1);
  const auto capped = [&](std::uint64_t size, std::size_t limit) {
    return full_ || size > limit ? limit + 1 : static_cast<std::size_t>(size);
  };
  value.values = capped(values_so_far_ - value.values, limits_.alias_values);
  value.bytes = capped(bytes_so_far_ - value.bytes, limits_.alias_bytes);
  if (value.name.empty()) kept_ = value;
}

const YamlAnchors::Value* YamlAnchors::Find(std::string_view anchor) const {
  const auto found = by_name_.find(anchor);
  return found == by_name_.end() ? nullptr : &values_[found->second];
}

YamlPart YamlAnchors::PartAt(std::size_t at) const {
  WEFT_CHECK(at < parts_.size());  // a value that was not kept is refused for its size
  YamlPart part = parts_[at].part;
  part.tag = parts_[at].tag;
  part.text = parts_[at].text;
  part.anchor = part.type == Type::kAlias ? std::string_view(ValueOfAlias(at).name) : "";
  return part;
}

std::size_t YamlAnchors::EndOf(std::size_t at) const {
  std::size_t depth = 0;
  while (true) {
    WEFT_CHECK(at < parts_.size());
    const Type type = parts_[at++].part.type;
    if (type == Type::kMap || type == Type::kList) ++depth;
    if (type == Type::kEnd) --depth;
    if (depth == 0) return at;
  }
}

}  // namespace weft::manifest
