#include "operator/decide/plan.h"
#include "operator/decide/text.h"

namespace weft::decide {
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
  Sentences(const ClusterFabric& on, const Workload& workload, const Unplaceable& no)
      : fabric_(*on.fabric), workload_(workload), no_(no) {}

  std::string Rule() const {
    switch (no_.reason) {
      case Reason::kNoCompleteNode:
        return NoNode();
      case Reason::kNoEligibleNode:
        return "No node of fabric \"" + fabric_.spec().name + "\" may take a worker of this job. " +
               Rejections();
      case Reason::kInsufficientCapacity:
        return Fitting("fabric \"" + fabric_.spec().name + "\"") + Short("") + Rejections();
      case Reason::kRequiredLevel:
        return "topology.required puts all " + Workers() + " into one " + Level() + ", and " +
               Fitting("the roomiest, " + no_.best_domain + ",") + Short(" there") + Rejections();
      case Reason::kRequiredGroup:
        return Group();
      case Reason::kSearchExhausted:
        return "There is room for all " + Workers() +
               ", but the bounded search found no way to hold every rule at once; none is proven "
               "impossible. ";
    }
    return "";
  }

 private:
  std::string Workers() const { return CountText(no_.wanted_workers, "worker"); }
  const std::string& Level() const { return fabric_.tiers()[no_.tier].name; }

  std::string NoNode() const {
    const auto incomplete = fabric_.incomplete();
    if (incomplete.empty()) {
      return "Fabric \"" + fabric_.spec().name + "\" has no node: none " +
             (fabric_.spec().node_selector ? "matches its nodeSelector. "
                                           : "offers an accelerator that Weft knows. ");
    }
    const auto& first = incomplete.front();
    return "No node of fabric \"" + fabric_.spec().name +
           "\" is complete: " + CountText(static_cast<std::int64_t>(incomplete.size()), "node") +
           ", of them " + first.node + ", " +
           (first.why.empty()
                ? "without the label " + first.label_key + " (level " + first.missing + "). "
                : "put aside: " + first.why + ". ");
  }

  std::string Fitting(const std::string& where) const {
    return where + " has room for " + std::to_string(no_.found_workers) + " of " + Workers() + ". ";
  }

  std::string Short(const std::string& where) const {
    if (no_.short_amount <= 0 || no_.short_resource.empty()) return "";
    return AmountText(no_.short_resource, no_.short_amount) +
           (no_.short_amount == 1 ? " is" : " are") + " missing" + where + ". ";
  }

  std::string Rejections() const {
    const std::string text = RejectionsText(no_.rejections);
    if (text.empty()) return "";
    return "Of " + CountText(fabric_.node_count(), "node") + " these take none: " + text + ". ";
  }

  std::string Group() const {
    const std::size_t g = no_.group.value_or(0);
    std::string text = "topology.groups[" + std::to_string(g) + "]";
    if (g < workload_.topology->groups.size()) {
      text += " (" + AxesText(workload_.topology->groups[g].axes) + ")";
    }
    text += " keeps each of its parts inside one " + Level();
    if (no_.found_workers < no_.wanted_workers) {
      return text + "; whole parts with " + std::to_string(no_.found_workers) + " of " + Workers() +
             " fit. " + Short(" for the rest") + Rejections();
    }
    return text + "; each part fits somewhere, but not all at once. " + Rejections();
  }

  const fabric::Fabric& fabric_;
  const Workload& workload_;
  const Unplaceable& no_;
};

}  // namespace

std::string RefusalText(const ClusterFabric& on, const Workload& workload, const Unplaceable& no,
                        const std::vector<placement::Relaxation>& relaxations) {
  std::string text = Sentences(on, workload, no).Rule();
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z' &&
      !text.starts_with("topology")) {
    text.front() = static_cast<char>(text.front() - 'a' + 'A');
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

}  // namespace weft::decide
