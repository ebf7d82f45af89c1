#include "operator/life/kubelet_wait.h"

#include <algorithm>
#include <string_view>

#include "operator/api/container_wait.h"
#include "operator/base/ascii.h"
#include "operator/cluster/text.h"
#include "operator/life/attempt_labels.h"
#include "operator/life/start_reasons.h"

namespace weft::life {
namespace {

std::string WithoutDigits(std::string_view text) {
  std::string words;
  for (const char c : text) {
    if (!IsDigit(c)) words += c;
  }
  return words;
}

// The length of the part of a message that says how many workers wait, and names the first one and
// its node.
std::size_t HeadLength(std::string_view message) {
  const std::size_t worker = message.find("worker ");
  return worker == message.npos ? 0 : std::min(message.size(), message.find(": ", worker));
}

}  // namespace

int WeightOfWait(const api::Pod& pod) {
  if (pod.waiting.empty()) return 0;
  return api::ReasonOfWait(pod.waiting) == kPulling ? 1 : 2;
}

KubeletWait WaitOf(const std::vector<const api::Pod*>& pods) {
  const api::Pod* first = nullptr;
  std::int64_t count = 0;
  int weight = 1;
  WorkerIndex lowest;
  for (const api::Pod* pod : pods) {
    if (pod->ready || pod->HasEnded() || pod->node_name.empty()) continue;
    const auto worker = WorkerLabel(pod->meta);
    const int own = WeightOfWait(*pod);
    if (!worker || own < weight) continue;
    if (own > weight) weight = own, count = 0, first = nullptr;
    ++count;
    if (first != nullptr && lowest <= *worker) continue;
    first = pod;
    lowest = *worker;
  }
  if (first == nullptr) return {};
  std::string message =
      "worker " + std::to_string(lowest.Raw()) + " on " + first->node_name + ": " + first->waiting;
  if (count > 1) message = CountText(count, "worker") + " wait, first: " + message;
  return {std::string(api::ReasonOfWait(first->waiting)), std::move(message)};
}

WaitNews NewsOf(const KubeletWait& told, const KubeletWait& now) {
  if (told.reason.empty()) return now.reason.empty() ? WaitNews::kNone : WaitNews::kFirst;
  if (now.reason.empty()) return WaitNews::kNothing;
  const std::string_view before = told.message, after = now.message;
  const std::size_t head = HeadLength(after);
  if (told.reason != now.reason || head == 0) return WaitNews::kOther;
  if (before.substr(0, HeadLength(before)) != after.substr(0, head)) return WaitNews::kOther;
  const auto continues = [](std::string_view longer, std::string_view text) {
    return longer == text || (longer.starts_with(text) && longer.substr(text.size(), 2) == ": ");
  };
  if (continues(before, after)) return WaitNews::kNone;
  return continues(WithoutDigits(before.substr(head)), WithoutDigits(after.substr(head)))
             ? WaitNews::kDigits
             : WaitNews::kOther;
}

}  // namespace weft::life
