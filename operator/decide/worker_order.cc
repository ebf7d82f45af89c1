#include "operator/decide/worker_order.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "operator/api/kueue.h"
#include "operator/decide/placement_pods.h"
#include "operator/decide/text.h"

namespace weft::decide {
namespace {

bool IsDigit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Takes the digits off the front of the text; returns them without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  std::string_view number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

Error Wrong(const std::string& pod, const std::string& why) {
  return {ErrorKind::kInvalid, "pod " + pod + " " + why};
}

Result<std::vector<WorkerPod>> ByLabels(const api::Placement& placement,
                                        const std::vector<const api::Pod*>& pods,
                                        std::vector<const api::Pod*> taken) {
  std::vector<WorkerPod> assigned;
  for (const api::Pod* pod : pods) {
    const std::string& name = pod->meta.key.name;
    const auto worker = WorkerIndexOf(placement, *pod);
    if (!worker) {
      return Wrong(name, "is not one of workers 0 to " + std::to_string(placement.workers - 1) +
                             " by its workerIndexLabels");
    }
    if (const api::Pod* other = taken[*worker]) {
      return Wrong(name, "and pod " + other->meta.key.name + " are both worker " +
                             std::to_string(*worker) + " by their workerIndexLabels");
    }
    taken[*worker] = pod;
    assigned.push_back({pod, *worker});
  }
  std::sort(assigned.begin(), assigned.end(),
            [](const WorkerPod& a, const WorkerPod& b) { return a.worker < b.worker; });
  return assigned;
}

Result<std::vector<WorkerPod>> ByNames(const std::vector<const api::Pod*>& pods,
                                       const std::vector<const api::Pod*>& taken) {
  std::vector<WorkerPod> assigned;
  std::uint32_t worker = 0;
  for (const api::Pod* pod : pods) {
    while (worker < taken.size() && taken[worker] != nullptr) ++worker;
    if (worker == taken.size()) {
      return Wrong(pod->meta.key.name,
                   "is one too many for " +
                       CountText(static_cast<std::int64_t>(taken.size()), "worker") +
                       ": narrow podSelector");
    }
    assigned.push_back({pod, worker++});
  }
  return assigned;
}

// Kueue names the index label of a Job even if it is not Indexed: its pods are then alike, and any
// order of them will do.
bool LackIndex(const api::Placement& placement, const std::vector<const api::Pod*>& pods) {
  if (!api::ControllingWorkload(placement.meta)) return false;
  const std::string& key = placement.worker_index_labels.back().key;
  return std::none_of(pods.begin(), pods.end(), [&](const api::Pod* pod) {
    return pod->meta.labels.contains(key) || pod->meta.annotations.contains(key);
  });
}

}  // namespace

bool NaturallyBefore(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a.front()) && IsDigit(b.front())) {
      const std::string_view x = TakeNumber(a), y = TakeNumber(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;  // for "w-1" and "w-01"
}

Result<std::vector<WorkerPod>> AssignWorkers(const api::Placement& placement,
                                             std::vector<const api::Pod*> pods,
                                             const std::vector<const api::Pod*>& taken) {
  std::sort(pods.begin(), pods.end(), [](const api::Pod* a, const api::Pod* b) {
    return NaturallyBefore(a->meta.key.name, b->meta.key.name);
  });
  if (placement.worker_index_labels.empty() || LackIndex(placement, pods)) {
    return ByNames(pods, taken);
  }
  return ByLabels(placement, pods, taken);
}

bool IsGated(const api::Pod& pod) {
  return pod.scheduling_gates == std::vector<std::string>{api::kGate};
}

bool HasGate(const api::Pod& pod) {
  const auto& gates = pod.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::kGate) != gates.end();
}

bool HasEnded(const api::Pod& pod) { return pod.phase == "Succeeded" || pod.phase == "Failed"; }

}  // namespace weft::decide
