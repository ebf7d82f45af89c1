#include "operator/fabric/elsewhere.h"

#include <set>

#include "operator/base/check.h"

namespace weft::fabric {

void Elsewhere::AddPod(NodeAt node, const Neighbour& pod) {
  WEFT_CHECK(pod.space != nullptr && pod.labels != nullptr);
  pods_[*pod.space].push_back({node, pod});
  if (pod.terms == nullptr) return;
  for (const PodTerm& term : pod.terms->anti_affinity) away_.Add({node, pod.space, &term});
  for (const PodTerm& term : pod.terms->affinity) beside_.Add({node, pod.space, &term});
  for (const PreferredPodTerm& one : pod.terms->preferred) {
    beside_.Add({node, pod.space, &one.term, one.weight});
  }
}

void Elsewhere::Terms::Add(const TermAt& one) {
  const PodTerm& term = *one.term;
  if (!term.selector) return;
  if (term.all_namespaces) {
    any.push_back(one);
    return;
  }
  if (term.namespaces.empty() && !term.space_selector) {
    by_space[*one.space].push_back(one);
    return;
  }
  const std::set<std::string_view> spaces(term.namespaces.begin(), term.namespaces.end());
  for (const std::string_view space : spaces) by_space[space].push_back(one);
}

}  // namespace weft::fabric
