#include "operator/import/imported_cluster.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "operator/import/import_text.h"

namespace weft::import {
namespace {

constexpr std::size_t kMaxLabel = 63;  // Kubernetes label values and DNS labels
constexpr std::size_t kPrefix = 32;    // readable part of a shortened name

// A node's CPU and memory per accelerator: DGX-class nodes have 2 x 56..64 cores and 2 TiB for 8.
constexpr std::int64_t kCpuMilliPerGpu = 24'000;
constexpr std::int64_t kMemoryPerGpu = std::int64_t{240} << 30;
constexpr std::int64_t kCpuMilliOfBareNode = 32'000;
constexpr std::int64_t kMemoryOfBareNode = std::int64_t{256} << 30;
constexpr std::int64_t kPodsPerNode = 110;  // kubelet's default
// Requests of earlier jobs: less than their share, so that CPU is never scarce.
constexpr std::int64_t kCpuMilliAskedPerGpu = 8'000;
constexpr std::int64_t kMemoryAskedPerGpu = std::int64_t{64} << 30;

bool IsAlnum(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool FitsLabel(std::string_view name) {
  if (name.empty() || name.size() > kMaxLabel) return false;
  if (!IsAlnum(name.front()) || !IsAlnum(name.back())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlnum(c) || c == '.' || c == '_' || c == '-'; });
}

bool FitsNodeName(std::string_view name) {
  if (!FitsLabel(name)) return false;
  // Labels of a DNS name start and end with a letter or digit, so a dot cannot be next to a dot or
  // hyphen.
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '_' || (name[i] >= 'A' && name[i] <= 'Z')) return false;
    if (name[i] == '.' && (!IsAlnum(name[i - 1]) || !IsAlnum(name[i + 1]))) return false;
  }
  return true;
}

// FNV-1a, 64 bit, as 16 hexadecimal digits; `salt` distinguishes names with equal hashes.
std::string HashHex(std::string_view text, int salt) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325U, kPrime = 0x100000001b3U;
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::uint64_t hash = kOffset ^ static_cast<std::uint64_t>(salt);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  std::string hex(16, '0');
  for (int i = 15; i >= 0; --i, hash >>= 4) hex[static_cast<std::size_t>(i)] = kDigits[hash & 15U];
  return hex;
}

std::string Shortened(std::string_view name, int salt, bool keep_dots) {
  std::string prefix;
  for (const char c : name.substr(0, kPrefix)) {
    prefix += IsAlnum(c) || (keep_dots && (c == '.' || c == '_')) ? c : '-';
  }
  const auto first = std::find_if(prefix.begin(), prefix.end(), IsAlnum);
  prefix.erase(prefix.begin(), first);
  while (!prefix.empty() && !IsAlnum(prefix.back())) prefix.pop_back();
  return (prefix.empty() ? "x" : prefix) + "-" + HashHex(name, salt);
}

// The label that `name` already has, or a new one: the name itself if it is valid and free.
std::string Claim(const std::string& name, bool fits, bool keep_dots,
                  std::map<std::string, std::string>& by_label) {
  if (fits && by_label.emplace(name, name).second) return name;
  for (int salt = 0;; ++salt) {
    std::string label = Shortened(name, salt, keep_dots);
    if (by_label.emplace(label, name).second) return label;
  }
}

}  // namespace

std::string LabelNames::Shorten(const std::string& name) {
  const auto known = by_name_.find(name);
  if (known != by_name_.end()) return known->second;
  return by_name_[name] = Claim(name, FitsLabel(name), true, by_label_);
}

std::string NodeNames::Shorten(const std::string& name) {
  const std::string lower = LowerCase(name);
  const auto known = by_name_.find(lower);
  if (known != by_name_.end()) return known->second;
  std::string label = Claim(lower, FitsNodeName(lower), false, by_label_);
  if (label != lower) ++changed_;
  return by_name_[lower] = std::move(label);
}

fabric::NodeFacts MakeNode(const std::string& name, const std::string& resource, int gpus) {
  fabric::NodeFacts node;
  node.name = name;
  node.labels.Set(fabric::kHostNameLabel, name);
  node.conditions = {{"Ready", "True"}};
  node.allocatable["cpu"] = gpus > 0 ? kCpuMilliPerGpu * gpus : kCpuMilliOfBareNode;
  node.allocatable["memory"] = gpus > 0 ? kMemoryPerGpu * gpus : kMemoryOfBareNode;
  node.allocatable["pods"] = kPodsPerNode;
  if (gpus > 0) node.allocatable[resource] = gpus;
  return node;
}

fabric::Resources ShareOfNode(const std::string& resource, int gpus) {
  return {{"cpu", kCpuMilliAskedPerGpu * gpus},
          {"memory", kMemoryAskedPerGpu * gpus},
          {resource, gpus}};
}

}  // namespace weft::import
