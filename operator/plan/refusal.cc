#include "operator/plan/refusal.h"

#include <algorithm>
#include <string_view>

#include "operator/cluster/pool_choices.h"
#include "operator/cluster/text.h"
#include "operator/fabric/node_facts.h"
#include "operator/placement/relax.h"

namespace weft::plan {
namespace {

using placement::Reason;
using placement::Unplaceable;

std::string AxesText(const std::vector<traffic::Axis>& axes) {
  std::string text;
  for (const traffic::Axis axis : axes) {
    text += (text.empty() ? "" : ", ") + std::string(traffic::AxisName(axis));
  }
  return text;
}

class Sentences {
 public:
  Sentences(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
            const Unplaceable& no)
      : fabric_(*on.fabric), workload_(workload), no_(no) {}

  std::string Text() const {
    if (!no_.choice) return Rule();
    std::string others;
    for (std::size_t c = 0; c < no_.choices.size(); ++c) {
      if (c == *no_.choice) continue;
      others += (others.empty() ? "; " : ", ") + no_.choices[c].name +
                (others.empty() ? " has room for " : " for ") +
                std::to_string(no_.choices[c].workers);
    }
    return Rule() + "These numbers are for " + no_.choices[*no_.choice].name + others + ". ";
  }

 private:
  std::string Rule() const {
    switch (no_.reason) {
      case Reason::kNoCompleteNode:
        return NoNode();
      case Reason::kNoMatchingProduct:
        return NoProduct();
      case Reason::kNoEligibleNode:
        return "No node of fabric \"" + Name() + "\" may run a worker of this job: " +
               cluster::RejectionsText(no_.rejections, fabric_.node_count()) + ". ";
      case Reason::kInsufficientCapacity:
        if (!no_.choices.empty()) return Choices() + Rejections();
        return "Fabric \"" + Name() + "\" has room for " + Found() + Short("") + ". " +
               Rejections();
      case Reason::kRequiredLevel:
        return "No single " + Level() + " has room for all " + Workers() +
               ", as topology.required demands. The " + Level() + " " + no_.best_domain +
               " comes closest with room for " + Found() + Short(" there") + ". " + Rejections();
      case Reason::kRequiredGroup:
        return no_.group ? Group(*no_.group) : Groups();
      case Reason::kSearchExhausted:
        return "There is room for all " + Workers() +
               ", but the search found no placement that meets every topology rule; one may still "
               "exist. ";
    }
    return "";
  }

  std::string Workers() const { return CountText(no_.wanted_workers, "worker"); }
  std::string Found() const { return std::to_string(no_.found_workers) + " of " + Workers(); }
  const std::string& Level() const { return fabric_.tiers()[no_.tier].name; }
  const std::string& Name() const { return fabric_.spec().name; }

  static std::string ListText(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
  }

  std::string NoProduct() const {
    const api::Accelerator& wanted = *workload_.accelerator;
    std::string text = "No node of fabric \"" + Name() + "\" that offers " + wanted.resource_name;
    if (!wanted.models.empty()) {
      text += " matches accelerator.models [" + ListText(wanted.models) + "]";
    }
    if (!wanted.capacity_types.empty()) {
      text += std::string(wanted.models.empty() ? " is" : " and is") +
              " of accelerator.capacityTypes [" + ListText(wanted.capacity_types) + "]";
    }
    std::vector<std::string> products = cluster::ProductsOf(fabric_, wanted.resource_name);
    for (std::string& product : products) {
      if (product.empty()) product = "unlabelled nodes";
    }
    return text + (products.empty() ? ". " : ". The fabric has " + ListText(products) + ". ");
  }

  // How many workers each product has room for, if a gang must use one of several.
  std::string Choices() const {
    std::string text =
        "No product of fabric \"" + Name() + "\" has room for all " + Workers() + ": ";
    for (std::size_t c = 0; c < no_.choices.size(); ++c) {
      text += (c > 0 ? ", " : "") + no_.choices[c].name + (c > 0 ? " for " : " has room for ") +
              std::to_string(no_.choices[c].workers);
    }
    return text + ". ";
  }

  std::string NoNode() const {
    const auto incomplete = fabric_.incomplete();
    if (incomplete.empty()) {
      return "Fabric \"" + Name() + "\" has no node: none " +
             (fabric_.spec().node_selector ? "matches its nodeSelector. "
                                           : "offers an accelerator that Weft knows. ");
    }
    const auto& first = incomplete.front();
    return "Fabric \"" + Name() + "\" can use none of its nodes: " + first.node + " " +
           (first.why.empty()
                ? "lacks the label " + first.label_key + " (level " + first.missing + ")"
                : "is not used, " + first.why) +
           (incomplete.size() == 1
                ? ""
                : ", and " +
                      CountText(static_cast<std::int64_t>(incomplete.size()) - 1, "more node") +
                      (incomplete.size() == 2 ? " is" : " are") + " incomplete too") +
           ". ";
  }

  std::string Short(const std::string& where) const {
    if (!no_.apart.empty()) return ": " + no_.apart;
    if (no_.short_amount <= 0 || no_.short_resource.empty()) return "";
    return ": " + cluster::AmountText(no_.short_resource, no_.short_amount) +
           (no_.short_amount == 1 ? " is" : " are") + " missing" + where;
  }

  std::string Rejections() const {
    const std::string text = cluster::NoRoomText(no_.rejections, fabric_.node_count());
    return text.empty() ? "" : text + " ";
  }

  std::string Group(std::size_t g) const {
    return "topology.groups[" + std::to_string(g) + "] (" +
           AxesText(workload_.topology->groups[g].axes) + ") demands one " + Level() +
           " for each set of " + CountText(no_.group_workers, "worker") + ". " + Found() +
           " fit in complete sets; the " + Level() + " " + no_.best_domain +
           " comes closest with room for " + CountText(no_.best_domain_workers, "worker") + ". " +
           Rejections();
  }

  std::string Groups() const {
    return "Each entry of topology.groups can be met alone, but not all of them together: " +
           Found() + " fit in complete sets. " + Rejections();
  }

  const fabric::Fabric& fabric_;
  const cluster::WorkloadView& workload_;
  const Unplaceable& no_;
};

}  // namespace

bool AdmissionMayTolerate(const cluster::WorkloadView& workload, const Unplaceable& no) {
  constexpr std::string_view kTaint = "taint ";  // as NodeJudge says it: "taint KEY=VALUE:EFFECT"
  if (!workload.meta->uid.empty()) return false;
  return std::any_of(no.rejections.begin(), no.rejections.end(), [&](const auto& count) {
    std::string_view detail = count.detail;
    if (count.rejection != rules::Rejection::kTaint || !detail.starts_with(kTaint)) return false;
    detail.remove_prefix(kTaint.size());
    const std::string key(detail.substr(0, detail.find_first_of("=:")));
    return key == workload.accelerator->resource_name || workload.pod.requests.contains(key);
  });
}

std::string WithheldText(const fabric::Fabric& on, const fabric::Resources& requests) {
  std::string first;
  std::int64_t nodes = 0;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on.node_count())) {
    const fabric::Resources& capacity = on.node(n).capacity;
    const auto lost = std::find_if(capacity.begin(), capacity.end(),
                                   [&](const auto& one) { return requests.contains(one.first); });
    if (lost == capacity.end()) continue;
    const auto& [resource, has] = *lost;
    const std::int64_t offers = on.allocatable(n, *on.FindResource(resource));
    if (++nodes > 1) continue;
    first = on.node(n).name + " offers " + std::to_string(offers) + " of its " +
            std::to_string(has) + " " + resource;
  }
  if (nodes == 0) return "";
  const std::string more = nodes == 1
                               ? ""
                               : ", and " + CountText(nodes - 1, "more node") + " too few of " +
                                     (nodes == 2 ? "its" : "their") + " own";
  return "It can start once nodes offer all that they have: " + first + more + ".";
}

std::string RefusalText(const cluster::ClusterFabric& on, const cluster::WorkloadView& workload,
                        const Unplaceable& no,
                        const std::vector<placement::Relaxation>& relaxations) {
  std::string text = Sentences(on, workload, no).Text();
  if (AdmissionMayTolerate(workload, no)) {
    text +=
        "The API server may add a toleration for the taint that has the resource's name "
        "(ExtendedResourceToleration, GKE): apply the job, or write the toleration. ";
  }
  if (relaxations.empty()) {
    if (!text.empty() && text.back() == ' ') text.pop_back();
    return text;
  }
  text += "To start now, relax one of: ";
  for (std::size_t i = 0; i < relaxations.size(); ++i) {
    const auto& one = relaxations[i];
    text += (i > 0 ? "; " : "") + one.constraint + ": " + one.change;
    if (workload.model->has_value()) {
      text += " (" + LinkTimeText(one.cost) + " of link time a step)";
    }
  }
  return text + ".";
}

}  // namespace weft::plan
