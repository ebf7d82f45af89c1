#include "operator/api/apply_runtime_classes.h"

#include <algorithm>
#include <map>
#include <string>

#include "operator/base/units.h"

namespace weft::api {
namespace {

void Apply(const rules::PodRequirements& adds, TrainingJob& job) {
  rules::PodRequirements& pod = job.pod;
  for (const auto& [key, value] : adds.node_selector) {
    const auto asked = pod.node_selector.find(key);
    if (asked != pod.node_selector.end() && asked->second != value) return;
  }
  pod.node_selector.insert(adds.node_selector.begin(), adds.node_selector.end());
  for (const rules::Toleration& one : adds.tolerations) {
    const auto& known = pod.tolerations;
    if (std::find(known.begin(), known.end(), one) == known.end()) pod.tolerations.push_back(one);
  }
  if (job.states_overhead) return;  // it is in the requests
  for (const auto& [resource, amount] : adds.requests) {
    std::int64_t& sum = pod.requests[resource];
    sum = SaturatingAdd(sum, amount);
  }
}

}  // namespace

void ApplyRuntimeClasses(Inputs& inputs) {
  std::map<std::string, const RuntimeClass*> classes;
  for (const RuntimeClass& one : inputs.runtime_classes) classes[one.meta.key.name] = &one;
  if (classes.empty()) return;
  for (std::size_t j = 0; j < inputs.jobs.size(); ++j) {
    const auto named = classes.find(inputs.jobs[j].runtime_class_name);
    if (named == classes.end()) continue;
    TrainingJob& job = inputs.jobs.Edit(j);
    Apply(named->second->adds, job);
    job.runtime_class_name.clear();
  }
}

}  // namespace weft::api
