#include "operator/api/wait_facts.h"

namespace weft::api {
namespace {

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

}  // namespace

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
