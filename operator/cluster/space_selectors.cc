#include "operator/cluster/space_selectors.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "operator/cluster/text.h"
#include "operator/fabric/selector.h"

namespace weft::cluster {
namespace {

constexpr const char* kSpaceName = "kubernetes.io/metadata.name";

bool HasSpaceSelector(const fabric::PodTerm& term) { return term.space_selector.has_value(); }

bool HasSpaceSelector(const std::vector<fabric::PodTerm>& terms) {
  return std::any_of(terms.begin(), terms.end(),
                     [](const fabric::PodTerm& term) { return HasSpaceSelector(term); });
}

bool HasSpaceSelector(const fabric::PodTerms& terms) {
  return HasSpaceSelector(terms.affinity) || HasSpaceSelector(terms.anti_affinity) ||
         std::any_of(terms.preferred.begin(), terms.preferred.end(),
                     [](const auto& one) { return HasSpaceSelector(one.term); });
}

bool HasSpaceSelector(const api::Pod& pod) { return HasSpaceSelector(*pod.pod.terms); }
bool HasSpaceSelector(const api::TrainingJob& job) { return HasSpaceSelector(*job.pod.terms); }
bool HasSpaceSelector(const api::Placement& one) {
  return one.proposal && HasSpaceSelector(*one.proposal->pod.terms);
}

rules::PodRequirements& PodOf(api::Pod& pod) { return pod.pod; }
rules::PodRequirements& PodOf(api::TrainingJob& job) { return job.pod; }
rules::PodRequirements& PodOf(api::Placement& placement) { return placement.proposal->pod; }

template <typename List>
bool AnySpaceSelector(const List& list) {
  return std::any_of(list.begin(), list.end(),
                     [](const auto& one) { return HasSpaceSelector(one); });
}

// The namespaces of the inputs with their labels.
class Spaces {
 public:
  explicit Spaces(const api::Inputs& inputs) {
    for (const api::Namespace& one : inputs.namespaces) {
      const std::string& name = one.meta.key.name;
      labels_[name] = one.meta.labels;
      labels_[name].Set(kSpaceName, name);
    }
    AddFrom(inputs.pods);
    AddFrom(inputs.jobs);
    AddFrom(inputs.placements);
  }

  const std::vector<std::string>& assumed() const { return assumed_; }

  void Resolve(fabric::PodTerm& term) const {
    if (!term.space_selector) return;
    for (const auto& [name, labels] : labels_) {
      if (fabric::Matches(*term.space_selector, labels)) term.namespaces.push_back(name);
    }
    term.space_selector.reset();
    if (!term.namespaces.empty()) return;
    term.space_selector = fabric::LabelSelector{{}, {{kSpaceName, "DoesNotExist", {}}}};
  }

  fabric::PodTerms Resolved(fabric::PodTerms terms) const {
    for (fabric::PodTerm& term : terms.affinity) Resolve(term);
    for (fabric::PodTerm& term : terms.anti_affinity) Resolve(term);
    for (fabric::PreferredPodTerm& one : terms.preferred) Resolve(one.term);
    return terms;
  }

  template <typename List>
  void ResolveIn(List& list) const {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (!HasSpaceSelector(list[i])) continue;
      rules::PodRequirements& pod = PodOf(list.Edit(i));
      pod.terms = Resolved(*pod.terms);
    }
  }

 private:
  template <typename List>
  void AddFrom(const List& list) {
    for (const auto& one : list) {
      const std::string& name = one.meta.key.space;
      const auto [entry, added] = labels_.try_emplace(name);
      if (!added) continue;
      entry->second.Set(kSpaceName, name);
      assumed_.push_back(name);
    }
  }

  std::map<std::string, TextMap, std::less<>> labels_;
  std::vector<std::string> assumed_;
};

}  // namespace

std::string ResolveSpaceSelectors(api::Inputs& inputs) {
  if (!AnySpaceSelector(inputs.pods) && !AnySpaceSelector(inputs.jobs) &&
      !AnySpaceSelector(inputs.placements)) {
    return "";
  }
  const Spaces spaces(inputs);
  spaces.ResolveIn(inputs.pods);
  spaces.ResolveIn(inputs.jobs);
  spaces.ResolveIn(inputs.placements);
  std::vector<std::string> assumed = spaces.assumed();
  if (assumed.empty()) return "";
  std::sort(assumed.begin(), assumed.end());
  return "no Namespace is given for " + NameSome(assumed) + ": for a namespaceSelector " +
         (assumed.size() == 1 ? "it counts" : "they count") + " as without labels but " +
         kSpaceName;
}

}  // namespace weft::cluster
