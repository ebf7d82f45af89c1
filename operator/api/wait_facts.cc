#include "operator/api/wait_facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "operator/api/json_reader.h"

namespace weft::api {
namespace {

std::vector<std::string> SplitNames(std::string_view text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) names.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::optional<std::int64_t> ReadSeconds(const Field& field) {
  if (!field.present()) return std::nullopt;
  const std::string text = field.Str();
  const char* const end = text.data() + text.size();
  std::int64_t seconds = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, seconds);
  if (error == std::errc() && stop == end && seconds >= 0) return seconds;
  field.Fail("must be a whole number of seconds");
  return std::nullopt;
}

}  // namespace

WaitFacts DecodeWaitFacts(const Field& metadata) {
  const Field annotations = metadata["annotations"];
  return {SplitNames(annotations[kExcludedNodesAnnotation].Str()),
          SplitNames(annotations[kAvoidedNodesAnnotation].Str()),
          SplitNames(annotations[kPreviousNodesAnnotation].Str()),
          ReadSeconds(annotations[kWaitedAnnotation])};
}

void EncodeWaitFacts(const WaitFacts& facts, TextMap& annotations) {
  const auto put = [&](const char* key, const std::string& text) {
    annotations.Erase(key);
    if (!text.empty()) annotations.Set(key, text);
  };
  put(kExcludedNodesAnnotation, Joined(facts.excluded_nodes));
  put(kAvoidedNodesAnnotation, Joined(facts.avoided_nodes));
  put(kPreviousNodesAnnotation, Joined(facts.previous_nodes));
  put(kWaitedAnnotation, facts.waited_seconds ? std::to_string(*facts.waited_seconds) : "");
}

}  // namespace weft::api
