#include "operator/cluster/pod_labels.h"

#include <charconv>

namespace weft::cluster {

std::optional<std::string> FindLabel(const api::Pod& pod, std::string_view key) {
  for (const auto* values : {&pod.meta.labels, &pod.meta.annotations}) {
    if (const auto value = values->At(key)) return std::string(*value);
  }
  return std::nullopt;
}

std::optional<std::int64_t> FindNumber(const api::Pod& pod, std::string_view key) {
  const auto text = FindLabel(pod, key);
  if (!text) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

const api::OwnerReference* ControllerOf(const api::Pod& pod) {
  for (const api::OwnerReference& owner : pod.meta.owners) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

std::string_view GroupOf(const api::OwnerReference& owner) {
  const std::size_t slash = owner.api_version.find('/');
  if (slash == std::string::npos) return "";
  return std::string_view(owner.api_version).substr(0, slash);
}

}  // namespace weft::cluster
