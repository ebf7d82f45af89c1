#include "operator/report/lint_rules.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "operator/cluster/claim_rules.h"
#include "operator/cluster/gang_members.h"
#include "operator/cluster/note.h"
#include "operator/cluster/pool_choices.h"
#include "operator/cluster/text.h"
#include "operator/fabric/partition.h"
#include "operator/life/launcher.h"
#include "operator/life/reserved_names.h"
#include "operator/life/worker_limit.h"
#include "operator/report/lint_outlook.h"
#include "operator/rules/between_pods.h"
#include "operator/rules/node_filter.h"
#include "operator/traffic/worker_sets.h"

namespace weft::report {
namespace {

using cluster::Severity;

using fabric::DomainIndex;
using fabric::NodeIndex;
using fabric::Tier;
using Findings = std::vector<Finding>;

Finding Found(Severity severity, std::string field, std::string reason, std::string message) {
  return {severity, "", std::move(field), std::move(reason), std::move(message)};
}

const api::TrainingJob* JobOf(const LintSubject& subject) {
  const cluster::WorkloadView& workload = subject.workload;
  return workload.is_job ? &subject.cluster.inputs->jobs[workload.index] : nullptr;
}

rules::SlotQuery EmptyQuery(const LintSubject& subject, const rules::PodRequirements& pod) {
  rules::SlotQuery query;
  query.pod = &pod;
  query.job = subject.problem.request.job;
  query.cap = subject.problem.request.workers;
  query.ignore_claims = true;
  return query;
}

// The workers that each empty node can take.
fabric::ByNode<std::uint32_t> EmptySlots(const LintSubject& subject,
                                         const rules::PodRequirements& pod) {
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(subject.on.claims, EmptyQuery(subject, pod), slots);
  return slots;
}

fabric::ByNode<std::uint32_t> EmptySlots(const LintSubject& subject) {
  return EmptySlots(subject, subject.problem.request.pod);
}

std::uint32_t RoomiestNode(const fabric::ByNode<std::uint32_t>& slots) {
  return slots.empty() ? 0 : *std::max_element(slots.begin(), slots.end());
}

// Workers that the roomiest empty domain of a tier can take.
std::uint64_t LargestDomain(const fabric::Fabric& fabric,
                            const fabric::ByNode<std::uint32_t>& slots, Tier tier) {
  std::uint64_t most = 0;
  const auto& domains = fabric.domains(tier);
  for (DomainIndex d{0}; d < domains.EndIndex(); ++d) {
    std::uint64_t sum = 0;
    for (NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) sum += slots[n];
    most = std::max(most, sum);
  }
  return most;
}

std::uint64_t LargestCrossingDomain(const fabric::Fabric& fabric,
                                    const fabric::ByNode<std::uint32_t>& slots) {
  std::map<DomainIndex, std::uint64_t> sums;
  std::uint64_t most = 0;
  for (const NodeIndex n : slots.Indices()) {
    most = std::max(most, sums[fabric.crossing_scale_up()->of_node[n]] += slots[n]);
  }
  return most;
}

// Workers of the largest group of one axis.
std::uint64_t LargestGroup(const LintSubject& subject, traffic::Axis axis) {
  const traffic::Traffic& shape = subject.problem.traffic;
  const auto sets = traffic::GroupWorkers(std::array{axis}, *subject.workload.parallelism,
                                          shape.workers, shape.per_worker);
  std::uint64_t most = 1;
  for (std::size_t s = 0; sets && s < sets->size(); ++s) most = std::max(most, sets->set(s).size());
  return most;
}

Findings TensorLeavesScaleUp(const LintSubject& subject) {
  const std::uint64_t group = LargestGroup(subject, traffic::Axis::kTensor);
  if (group < 2) return {};
  const fabric::Fabric& fabric = *subject.on.fabric;
  const fabric::ByNode<std::uint32_t> slots = EmptySlots(subject);
  std::uint64_t room = LargestDomain(fabric, slots, fabric.node_tier());
  std::string where = "node";
  const bool usable =
      !fabric.ScaleUpNeedsClaim() || subject.problem.request.pod.claims_compute_domain;
  if (usable && fabric.spec().scale_up) {
    const auto nested = fabric.nested_scale_up();
    room = std::max(room, nested ? LargestDomain(fabric, slots, *nested)
                                 : LargestCrossingDomain(fabric, slots));
    where = fabric.spec().scale_up->name + " domain";
  }
  if (room == 0 || group <= room) return {};
  return {Found(Severity::kWarning, "spec.parallelism.tensor", "TensorLeavesScaleUp",
                "a tensor group of " + std::to_string(subject.workload.parallelism->tensor) +
                    " ranks needs " + CountText(static_cast<std::int64_t>(group), "worker") +
                    ", but the largest " + where + " has room for " + std::to_string(room) +
                    ": the all-reduces of every layer leave the fastest network")};
}

Findings ExpertLeavesLeaf(const LintSubject& subject) {
  const fabric::Fabric& fabric = *subject.on.fabric;
  const std::size_t levels = fabric.spec().levels.size();
  const std::uint64_t group = LargestGroup(subject, traffic::Axis::kExpert);
  if (group < 2 || levels == 0) return {};
  const Tier tier = Tier::Of(levels);  // the narrowest level; outside is tier 0
  const std::uint64_t room = LargestDomain(fabric, EmptySlots(subject), tier);
  if (room == 0 || group <= room) return {};
  const std::string& level = fabric.tiers()[tier].name;
  return {Found(Severity::kWarning, "spec.parallelism.expert", "ExpertLeavesLevel",
                "an expert group needs " + CountText(static_cast<std::int64_t>(group), "worker") +
                    ", but the largest " + level + " has room for " + std::to_string(room) +
                    ": its all-to-all crosses " + level + " borders")};
}

Findings NoComputeDomain(const LintSubject& subject) {
  const fabric::Fabric& fabric = *subject.on.fabric;
  const bool claims = subject.problem.request.pod.claims_compute_domain ||
                      subject.workload.topology->compute_domain;  // made where it is of use
  if (!fabric.ScaleUpNeedsClaim() || claims || subject.workload.workers < 2) return {};
  return {Found(Severity::kWarning, "spec.workers.template.spec.resourceClaims", "NoComputeDomain",
                "the template claims no ComputeDomain, so traffic between nodes does not use " +
                    fabric.spec().scale_up->name + " and is counted at the next wider level")};
}

Findings Preempts(const LintSubject& subject) {
  const api::TrainingJob* job = JobOf(subject);
  const auto& classes = subject.cluster.inputs->priority_classes;
  if (job == nullptr || classes.empty()) return {};
  const std::string field = "spec.workers.template.spec.priorityClassName";
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& one) {
    return job->priority_class_name.empty() ? one.global_default
                                            : one.meta.key.name == job->priority_class_name;
  });
  if (found == classes.end() && !job->priority_class_name.empty()) {
    return {Found(Severity::kWarning, field, "UnknownPriorityClass",
                  "there is no PriorityClass \"" + job->priority_class_name + "\"")};
  }
  if (found != classes.end() && found->preemption_policy == "Never") return {};
  return {
      Found(Severity::kWarning, field, "Preempts",
            "use a PriorityClass with preemptionPolicy: Never; otherwise the pods, each tied to "
            "its node, may preempt pods that run there")};
}

// The most frequent amount of the accelerator on nodes that have any.
std::int64_t UsualAccelerators(const LintSubject& subject) {
  const fabric::Fabric& fabric = *subject.on.fabric;
  const auto resource = fabric.FindResource(subject.workload.accelerator->resource_name);
  if (!resource) return 0;
  std::map<std::int64_t, std::uint32_t> nodes;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (fabric.allocatable(n, *resource) > 0) ++nodes[fabric.allocatable(n, *resource)];
  }
  std::int64_t usual = 0;
  std::uint32_t most = 0;
  for (const auto& [amount, count] : nodes) {
    if (count >= most) std::tie(usual, most) = std::pair(amount, count);
  }
  return usual;
}

// Why no node takes more than `most` workers, if that is not for their requests but for a rule
// between them; else "".
std::string BetweenWorkers(const LintSubject& subject, std::uint32_t most) {
  rules::PodRequirements alone = subject.problem.request.pod;
  alone.terms = {};
  alone.volumes = {};
  alone.claims_compute_domain = false;
  if (RoomiestNode(EmptySlots(subject, alone)) <= most) return "";
  const std::string text =
      rules::BetweenWorkersText(EmptyQuery(subject, subject.problem.request.pod));
  return text.empty() ? "its driver has no more volumes for it" : text;
}

Findings Stranded(const LintSubject& subject) {
  const std::int64_t usual = UsualAccelerators(subject);
  const std::int64_t each = subject.workload.accelerator->per_worker;
  if (each == 0 || usual < each) return {};
  const std::string& resource = subject.workload.accelerator->resource_name;
  Findings findings;
  if (usual % each != 0) {
    findings.push_back(
        Found(Severity::kWarning, "spec.accelerator.perWorker", "StrandedAccelerators",
              "workers of " + std::to_string(each) + " leave " + std::to_string(usual % each) +
                  " of " + std::to_string(usual) + " " + resource + " unused on each node"));
  }
  const std::uint32_t most = RoomiestNode(EmptySlots(subject));
  const std::int64_t wanted = std::min<std::int64_t>(usual / each, subject.workload.workers);
  if (most == 0 || most >= wanted) return findings;
  const std::string room = "an empty node has room for " + CountText(most, "worker") +
                           ", though its " + resource + " would suffice for " +
                           std::to_string(usual / each) + ": ";
  const std::string between = BetweenWorkers(subject, most);
  if (!between.empty()) {
    findings.push_back(
        Found(Severity::kWarning, "spec.workers.template.spec", "StrandedByRules", room + between));
    return findings;
  }
  findings.push_back(
      Found(Severity::kWarning, "spec.workers.template.spec.containers", "StrandedByRequests",
            room + "the template requests too much of another resource (cpu, memory, ...)"));
  return findings;
}

Findings Durations(const LintSubject& subject) {
  const api::TrainingJob* job = JobOf(subject);
  if (job == nullptr) return {};
  const auto& expected = job->expected_duration_seconds;
  if (!expected) {
    return {
        Found(Severity::kInfo, "spec.expectedDurationSeconds", "NoExpectedDuration",
              "without it, Weft cannot tell when the job's nodes come free, and cannot start it "
              "on nodes reserved for another job")};
  }
  if (!job->active_deadline_seconds || *job->active_deadline_seconds >= *expected) return {};
  return {Found(Severity::kWarning, "spec.activeDeadlineSeconds", "DeadlineTooShort",
                "the deadline ends the job after " + DurationText(*job->active_deadline_seconds) +
                    ", but its expected duration is " + DurationText(*expected))};
}

Findings NoModel(const LintSubject& subject) {
  if (subject.workload.model->has_value() || subject.workload.workers < 2) return {};
  return {Found(Severity::kInfo, "spec.model", "NoModel",
                "without a model the job's traffic counts as one ring over its ranks, which may "
                "differ from its real traffic")};
}

Findings Preferences(const LintSubject& subject) {
  const api::TopologySpec& topology = *subject.workload.topology;
  Findings findings;
  if (topology.wait_for_preferred_seconds && topology.preferred.empty()) {
    findings.push_back(Found(Severity::kWarning, "spec.topology.waitForPreferredSeconds",
                             "WaitsForNothing", "there is no preferred level to wait for"));
  }
  if (!topology.preferred.empty() && topology.preferred == topology.required) {
    findings.push_back(Found(Severity::kInfo, "spec.topology.preferred", "PreferredIsRequired",
                             "preferred repeats required and has no effect"));
  }
  return findings;
}

Findings ReservedName(const LintSubject& subject) {
  const api::TrainingJob* job = JobOf(subject);
  const auto use = job == nullptr ? std::nullopt : life::FindReservedUse(*job);
  if (!use) return {};
  return {Found(Severity::kError, use->field, "ReservedName",
                use->message + "; the operator refuses the job")};
}

Findings UnexpectedLauncher(const LintSubject& subject) {
  const api::TrainingJob* job = JobOf(subject);
  const auto wrong = job == nullptr ? std::nullopt : life::WrongLauncher(*job);
  if (!wrong) return {};
  return {Found(Severity::kWarning, "spec.workers.template.spec.containers[0].command",
                "UnexpectedLauncher", *wrong)};
}

Findings TooMany(const LintSubject& subject) {
  const api::TrainingJob* job = JobOf(subject);
  const auto why = job == nullptr ? std::nullopt : life::TooManyWorkers(*job);
  if (!why) return {};
  return {Found(Severity::kError, "spec.workers.replicas", "TooManyWorkers",
                *why + "; the operator refuses the job")};
}

// Finding about a listed model that no node has, although nodes have other listed models.
Findings UnknownModels(const LintSubject& subject) {
  const api::Accelerator& accelerator = *subject.workload.accelerator;
  const auto products = cluster::ProductsOf(*subject.on.fabric, accelerator.resource_name);
  std::string known;
  for (const std::string& product : products) {
    if (!product.empty()) known += (known.empty() ? "" : ", ") + product;
  }
  Findings findings;
  for (std::size_t m = 0; m < accelerator.models.size(); ++m) {
    const std::string& model = accelerator.models[m];
    const bool matches =
        model == api::kAnyPool ||
        std::any_of(products.begin(), products.end(), [&](const std::string& product) {
          return cluster::MatchesModel(model, product, subject.on.fabric->spec().accelerators);
        });
    if (matches) continue;
    findings.push_back(Found(Severity::kWarning,
                             "spec.accelerator.models[" + std::to_string(m) + "]", "UnknownModel",
                             "\"" + model + "\" matches no product of this fabric" +
                                 (known.empty() ? "" : ", which has " + known)));
  }
  return findings;
}

// What ranks of one gang on such parts of accelerators meet.
// Source  NVIDIA/nccl, src/init.cc: "Duplicate GPU detected". NVIDIA, "Multi-Instance GPU user
//         guide", 2026: no peer-to-peer access between instances.
std::string MeaningOf(const fabric::Partition& part) {
  switch (part.kind) {
    case fabric::Partition::Kind::kWhole:
      break;
    case fabric::Partition::Kind::kTimeSlice:
      return "a turn on a GPU that others use too, without memory of its own: ranks on one GPU "
             "slow each other down, and NCCL refuses two ranks of a job on one GPU";
    case fabric::Partition::Kind::kMps:
      return "a share of a GPU that others use too: ranks on one GPU slow each other down, and "
             "NCCL refuses two ranks of a job on one GPU";
    case fabric::Partition::Kind::kHardware:
      return part.name.starts_with("MIG")
                 ? "a slice of a GPU: slices cannot reach each other's memory or use NVLink, and "
                   "NCCL refuses two slices of one GPU in a job"
                 : "a partition of a GPU, with its share of the compute, the memory and the links";
    case fabric::Partition::Kind::kVirtual:
      return "a virtual GPU, which may share its GPU with other machines";
  }
  return "";
}

// What the job gets instead of whole accelerators, for each kind of part that it may be placed on.
Findings PartsOfAccelerators(const LintSubject& subject) {
  const api::Accelerator& wanted = *subject.workload.accelerator;
  const fabric::Fabric& fabric = *subject.on.fabric;
  const auto resource = fabric.FindResource(wanted.resource_name);
  if (!resource || std::int64_t{subject.workload.workers} * wanted.per_worker < 2) return {};
  std::set<fabric::PoolIndex> allowed;
  const auto choices = cluster::PoolChoicesOf(fabric, wanted);
  for (const auto& choice : choices.value_or(std::vector<objective::PoolChoice>())) {
    allowed.insert(choice.pools.begin(), choice.pools.end());
  }
  std::map<std::string, std::pair<fabric::Partition, std::int64_t>> parts;
  bool whole = false;
  for (const NodeIndex n : Range<NodeIndex>(fabric.node_count())) {
    if (fabric.capacity(n, *resource) == 0) continue;
    if (choices && !allowed.contains(fabric.pool(n))) continue;
    const fabric::Partition part = fabric::PartitionOf(fabric.node(n), wanted.resource_name);
    whole = whole || part.whole();
    if (!part.whole()) ++parts.try_emplace(part.name, part, 0).first->second.second;
  }
  Findings findings;
  for (const auto& [name, found] : parts) {
    const auto& [part, nodes] = found;
    findings.push_back(Found(Severity::kWarning, "spec.accelerator.resourceName",
                             "PartsOfAccelerators",
                             std::string(whole ? "if no whole accelerators are free: " : "") +
                                 "on " + CountText(nodes, "node") + " one " + wanted.resource_name +
                                 " is no whole GPU but " + name + ", " + MeaningOf(part)));
  }
  return findings;
}

// The PodGroup of pods of another controller that keeps them in one domain of a label.
const api::PodGroup* NarrowGroup(const api::Inputs& inputs, const api::Placement& placement) {
  for (const api::PodGroup& group : inputs.pod_groups) {
    if (group.topology_key.empty() || group.meta.key.space != placement.meta.key.space) continue;
    const bool of_it = std::any_of(inputs.pods.begin(), inputs.pods.end(), [&](const auto& pod) {
      return pod.pod_group == group.meta.key.name && cluster::Selects(placement, pod);
    });
    if (of_it) return &group;
  }
  return nullptr;
}

// kube-scheduler would try the pods in one domain at a time, and their nodes may be in several.
Findings PodGroupTopology(const LintSubject& subject) {
  if (subject.workload.is_job) return {};
  const api::Inputs& inputs = *subject.cluster.inputs;
  const api::PodGroup* group = NarrowGroup(inputs, inputs.placements[subject.workload.index]);
  if (group == nullptr) return {};
  const std::string& required = subject.workload.topology->required;
  for (const fabric::LevelSpec& level : subject.on.fabric->spec().levels) {
    if (level.name == required && level.label_key == group->topology_key) return {};
  }
  return {Found(Severity::kWarning, "spec.topology.required", "PodGroupTopology",
                "PodGroup " + api::Show(group->meta.key) + " of the pods allows one domain of " +
                    group->topology_key +
                    ", so kube-scheduler refuses nodes in several: remove its topology "
                    "constraint, or require the level that has this label")};
}

// The claims that a pod of the workload names in its spec.
const std::vector<api::ClaimReference>* ClaimsOf(const LintSubject& subject) {
  const api::Inputs& inputs = *subject.cluster.inputs;
  if (const api::TrainingJob* job = JobOf(subject)) return &job->claims;
  const api::Placement& placement = inputs.placements[subject.workload.index];
  if (placement.proposal) return &placement.proposal->claims;
  const auto pod = std::find_if(inputs.pods.begin(), inputs.pods.end(), [&](const api::Pod& one) {
    return cluster::Selects(placement, one);
  });
  return pod == inputs.pods.end() ? nullptr : &pod->claims;
}

// A claim is allocated once, for all pods that name it, and most devices are those of one node.
// Source  kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation, 2026.
Findings SharedClaim(const LintSubject& subject) {
  const auto* claims = ClaimsOf(subject);
  const cluster::WorkloadView& workload = subject.workload;
  if (claims == nullptr || workload.workers < 2) return {};
  const fabric::Fabric& fabric = *subject.on.fabric;
  if (workload.topology->required == fabric.tiers()[fabric.node_tier()].name) return {};
  const std::string field =
      workload.is_job ? "spec.workers.template.spec.resourceClaims" : "spec.podSelector";
  Findings findings;
  std::set<std::string> told;
  for (const api::ClaimReference& one : *claims) {
    if (one.claim.empty() || !told.insert(one.claim).second) continue;
    findings.push_back(
        Found(Severity::kWarning, field, "SharedClaim",
              "all workers name the ResourceClaim " + one.claim +
                  ", and devices of a node serve pods of that node only: kube-scheduler refuses "
                  "workers on other nodes. Use resourceClaimTemplateName, which gives each worker "
                  "a claim of its own"));
  }
  return findings;
}

Findings SelectorNotEvaluated(const LintSubject& subject) {
  const auto* claims = ClaimsOf(subject);
  const cluster::WorkloadView& workload = subject.workload;
  const std::string field =
      workload.is_job ? "spec.workers.template.spec.resourceClaims" : "spec.podSelector";
  Findings findings;
  for (std::string& text : cluster::SelectorsNotEvaluated(
           *subject.cluster.inputs, workload.meta->key.space,
           claims == nullptr ? std::vector<api::ClaimReference>() : *claims,
           workload.accelerator->device_class)) {
    findings.push_back(Found(Severity::kInfo, field, "SelectorNotEvaluated", std::move(text)));
  }
  return findings;
}

// To add a finding, add its row here and its function above, or in lint_outlook.h if it follows
// from a prediction.
constexpr auto kRules = std::to_array<LintRule>({
    {TensorLeavesScaleUp},
    {ExpertLeavesLeaf},
    {NoComputeDomain},
    {Preempts},
    {Stranded},
    {Durations},
    {NoModel},
    {Preferences},
    {NotPredictable},
    {.find = DoesNotFit, .never_fits = true},
    {RefusedLayout},
    {PipelineBubble},
    {MeasuredStepInvalid},
    {StepMetricInvalid},
    {ReservedName},
    {UnexpectedLauncher},
    {TooMany},
    {UnknownModels},
    {PartsOfAccelerators},
    {PodGroupTopology},
    {SharedClaim},
    {SelectorNotEvaluated},
});

}  // namespace

std::span<const LintRule> LintRules() { return kRules; }

}  // namespace weft::report
