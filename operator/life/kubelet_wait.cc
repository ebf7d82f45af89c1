#include "operator/life/kubelet_wait.h"

#include <algorithm>
#include <string_view>

#include "operator/api/container_wait.h"
#include "operator/base/ascii.h"
#include "operator/cluster/text.h"
#include "operator/life/attempt_labels.h"

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

KubeletWait WaitOf(const std::vector<const api::Pod*>& pods) {
  const api::Pod* first = nullptr;
  std::int64_t count = 0;
  WorkerIndex lowest;
  for (const api::Pod* pod : pods) {
    if (pod->ready || pod->HasEnded() || pod->node_name.empty() || pod->waiting.empty()) continue;
    const auto worker = WorkerLabel(pod->meta);
    if (!worker) continue;
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

bool SaysTheSame(const KubeletWait& told, const KubeletWait& now) {
  const std::string_view told_words = told.message, words = now.message;
  const std::size_t head = HeadLength(words);
  if (told.reason != now.reason || head == 0) return false;
  if (told_words.substr(0, HeadLength(told_words)) != words.substr(0, head)) return false;
  const std::string before = WithoutDigits(told_words.substr(head));
  const std::string after = WithoutDigits(words.substr(head));
  return before == after || before.starts_with(after + ": ");
}

}  // namespace weft::life
