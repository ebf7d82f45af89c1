#include "operator/report/half_gangs.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "operator/base/phrases.h"
#include "operator/base/units.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/pod_labels.h"
#include "operator/fabric/node_facts.h"

namespace weft::report {
namespace {

std::int64_t AcceleratorsOf(const api::Pod& pod) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : pod.pod.requests) {
    if (fabric::IsAcceleratorResource(name)) sum = SaturatingAdd(sum, amount);
  }
  return sum;
}

// Those with Weft's gate start as a whole.
bool WaitsForANode(const api::Pod& pod) {
  return pod.node_name.empty() && !pod.HasEnded() &&
         std::find(pod.scheduling_gates.begin(), pod.scheduling_gates.end(), api::kGate) ==
             pod.scheduling_gates.end();
}

// Whether the pods of the owner need not run together: replicas of a service, and a Job whose pods
// take their work one by one.
bool RunsAlone(const cluster::Gang& gang, const SharedList<api::Pod>& pods) {
  static constexpr std::array<std::string_view, 4> kKinds = {"TrainingJob", "DaemonSet",
                                                             "ReplicaSet", "StatefulSet"};
  if (std::find(kKinds.begin(), kKinds.end(), gang.kind) != kKinds.end()) return true;
  return gang.kind == "Job" && !gang.indexed &&
         cluster::FindLabel(pods[gang.pods.front()], cluster::kBatchJobName);
}

std::string WhyWaits(const api::Pod& pod) {
  if (!pod.scheduling_gates.empty()) return ": scheduling gate " + pod.scheduling_gates.front();
  return pod.unscheduled.empty() ? "" : ": " + pod.unscheduled;
}

std::string Sentence(const cluster::Gang& gang, const SharedList<api::Pod>& pods) {
  std::int64_t held = 0, bound = 0;
  const api::Pod* waits = nullptr;
  for (const std::size_t p : gang.pods) {
    if (!pods[p].node_name.empty()) {
      held = SaturatingAdd(held, AcceleratorsOf(pods[p]));
      ++bound;
    } else if (waits == nullptr) {
      waits = &pods[p];
    }
  }
  if (bound == 0 || waits == nullptr) return "";
  return gang.kind + " " + api::Show(gang.key) + " holds " + CountText(held, "accelerator") +
         " with " + std::to_string(bound) + " of " +
         CountText(static_cast<std::int64_t>(gang.pods.size()), "worker") + "; " +
         waits->meta.key.name + " has no node" + WhyWaits(*waits);
}

}  // namespace

std::vector<cluster::Note> HalfGangs(const api::Inputs& inputs, const std::string& space) {
  std::vector<std::size_t> chosen;
  for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
    const api::Pod& pod = inputs.pods[p];
    if (!space.empty() && pod.meta.key.space != space) continue;
    if (AcceleratorsOf(pod) > 0 && (pod.Holds() || WaitsForANode(pod))) chosen.push_back(p);
  }
  std::vector<cluster::Note> notes;
  for (const cluster::Gang& gang : cluster::FindGangs(inputs.pods, chosen)) {
    if (RunsAlone(gang, inputs.pods)) continue;
    if (std::string text = Sentence(gang, inputs.pods); !text.empty()) {
      notes.push_back({cluster::Severity::kWarning, "PartlyStarted", std::move(text)});
    }
  }
  return notes;
}

}  // namespace weft::report
