#include "operator/api/pod_requirements.h"

#include <algorithm>
#include <cctype>

#include "operator/api/pod_terms.h"
#include "operator/base/units.h"

namespace weft::api {
namespace {

using fabric::Resources;

constexpr const char* kRequiredAffinity = "requiredDuringSchedulingIgnoredDuringExecution";

void Add(Resources& sum, const Resources& more) {
  for (const auto& [name, amount] : more) sum[name] = SaturatingAdd(sum[name], amount);
}

void TakeGreater(Resources& all, const Resources& other) {
  for (const auto& [name, amount] : other) all[name] = std::max(all[name], amount);
}

// The requests; for a resource without a request, its limit.
Resources RequestsOrLimits(const Field& resources) {
  Resources requests = DecodeResources(resources["requests"]);
  requests.merge(DecodeResources(resources["limits"]));
  return requests;
}

// A container's requests, for a pod on a node with what the kubelet has allocated to it and what it
// has, if a resize is on its way; without the request itself, if the node can never grant that.
Resources OfContainer(const Field& container, const Field& statuses, bool infeasible) {
  const std::string name = container["name"].Str();
  for (const Field& status : statuses.Items()) {
    if (status["name"].Str() != name) continue;
    Resources on_node = DecodeResources(status["allocatedResources"]);
    TakeGreater(on_node, DecodeResources(status["resources"]["requests"]));
    if (on_node.empty()) break;
    Resources asked = RequestsOrLimits(container["resources"]);
    if (!infeasible) TakeGreater(on_node, asked);
    on_node.merge(asked);  // what is not said there
    return on_node;
  }
  return RequestsOrLimits(container["resources"]);
}

bool IsInfeasible(const Field& status) {
  const std::vector<Field> conditions = status["conditions"].Items();
  return std::any_of(conditions.begin(), conditions.end(), [](const Field& one) {
    return one["type"].Str() == "PodResizePending" && one["status"].Str() == "True" &&
           one["reason"].Str() == "Infeasible";
  });
}

Resources OfContainers(const Field& spec, const Field& status) {
  const bool infeasible = IsInfeasible(status);
  Resources sum, sidecars, largest_init;
  for (const Field& container : spec["containers"].Items()) {
    Add(sum, OfContainer(container, status["containerStatuses"], infeasible));
  }
  for (const Field& container : spec["initContainers"].Items()) {
    Resources requests = OfContainer(container, status["initContainerStatuses"], infeasible);
    if (container["restartPolicy"].Str() == "Always") {
      Add(sidecars, requests);
      requests = sidecars;
    } else {
      Add(requests, sidecars);
    }
    TakeGreater(largest_init, requests);
  }
  Add(sum, sidecars);
  TakeGreater(sum, largest_init);
  return sum;
}

// Without those that a pod cannot have as a whole.
Resources DecodePodLevel(const Field& amounts) {
  Resources resources = DecodeResources(amounts);
  std::erase_if(resources, [](const auto& one) {
    const std::string& name = one.first;
    return name != "cpu" && name != "memory" && !name.starts_with("hugepages-");
  });
  return resources;
}

// A pod's own resources replace the sum of its containers; if a resize of them is on its way, what
// the kubelet has allocated and what the pod has count as for a container. A limit without a
// request counts only if no container requests that resource.
void ApplyPodLevel(const Field& resources, const Field& status, Resources& requests) {
  Resources asked = DecodePodLevel(resources["requests"]);
  if (!asked.empty() && status["resources"].present()) {
    Resources on_node = DecodePodLevel(status["allocatedResources"]);
    TakeGreater(on_node, DecodePodLevel(status["resources"]["requests"]));
    if (!IsInfeasible(status)) TakeGreater(on_node, asked);
    on_node.merge(asked);  // what is not said there
    asked = std::move(on_node);
  }
  for (const auto& [name, amount] : asked) requests[name] = amount;
  requests.merge(DecodePodLevel(resources["limits"]));
}

std::vector<fabric::SelectorExpression> DecodeExpressions(const Field& list) {
  std::vector<fabric::SelectorExpression> expressions;
  for (const Field& item : list.Items()) expressions.push_back(DecodeSelectorExpression(item));
  return expressions;
}

std::vector<rules::PreferredTerm> DecodePreferred(const Field& affinity) {
  std::vector<rules::PreferredTerm> terms;
  for (const Field& item : affinity["preferredDuringSchedulingIgnoredDuringExecution"].Items()) {
    const Field term = item["preference"];
    terms.push_back(
        {item["weight"].Int(),
         {DecodeExpressions(term["matchExpressions"]), DecodeExpressions(term["matchFields"])}});
  }
  return terms;
}

bool HasWordOfComputeDomain(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto has = [&](const char* part) { return name.find(part) != name.npos; };
  return has("computedomain") || has("compute-domain") || has("channel") || has("imex");
}

// `name`: of the pod; "" for a template.
rules::PodRequirements Decode(const Field& pod_spec, const Field& status, const TextMap& labels,
                              const std::string& name) {
  rules::PodRequirements pod;
  pod.requests = OfContainers(pod_spec, status);
  ApplyPodLevel(pod_spec["resources"], status, pod.requests);
  Add(pod.requests, DecodeResources(pod_spec["overhead"]));
  std::erase_if(pod.requests, [](const auto& request) { return request.second == 0; });
  pod.node_selector = pod_spec["nodeSelector"].StrMap();
  pod.required_affinity =
      DecodeNodeSelector(pod_spec["affinity"]["nodeAffinity"][kRequiredAffinity]);
  pod.preferred = DecodePreferred(pod_spec["affinity"]["nodeAffinity"]);
  for (const Field& item : pod_spec["tolerations"].Items()) {
    rules::Toleration toleration{item["key"].Str(), item["operator"].Str("Equal"),
                                 item["value"].Str(), item["effect"].Str()};
    if (toleration.op.empty()) toleration.op = "Equal";
    pod.tolerations.push_back(std::move(toleration));
  }
  for (const Field& claim : pod_spec["resourceClaims"].Items()) {
    if (NamesComputeDomain(claim)) pod.claims_compute_domain = true;
  }
  pod.node_name = pod_spec["nodeName"].Str();
  pod.terms = DecodePodTerms(pod_spec, labels, name);
  return pod;
}

}  // namespace

std::optional<std::vector<rules::NodeSelectorTerm>> DecodeNodeSelector(const Field& selector) {
  if (!selector.present()) return std::nullopt;
  std::vector<rules::NodeSelectorTerm> terms;
  for (const Field& term : selector["nodeSelectorTerms"].Items()) {
    terms.push_back(
        {DecodeExpressions(term["matchExpressions"]), DecodeExpressions(term["matchFields"])});
  }
  return terms;
}

std::vector<ClaimReference> DecodeClaims(const Field& pod_spec, const Field& status) {
  const std::vector<Field> statuses = status["resourceClaimStatuses"].Items();
  std::vector<ClaimReference> claims;
  for (const Field& claim : pod_spec["resourceClaims"].Items()) {
    ClaimReference reference{claim["resourceClaimName"].Str(),
                             claim["resourceClaimTemplateName"].Str(), "",
                             NamesComputeDomain(claim)};
    if (reference.claim.empty() && reference.claim_template.empty()) continue;
    const std::string name = claim["name"].Str();
    for (const Field& one : statuses) {
      if (one["name"].Str() == name) reference.made = one["resourceClaimName"].Str();
    }
    claims.push_back(std::move(reference));
  }
  return claims;
}

bool NamesComputeDomain(const Field& resource_claim) {
  for (const char* key : {"name", "resourceClaimName", "resourceClaimTemplateName"}) {
    if (HasWordOfComputeDomain(resource_claim[key].Str())) return true;
  }
  return false;
}

Resources DecodeResources(const Field& list) {
  Resources resources;
  for (const Field& entry : list.Members()) {
    if (!entry.present()) continue;
    const std::string name(entry.key());
    const std::int64_t amount = name == "cpu" ? entry.MilliQuantity() : entry.Quantity();
    if (amount < 0) entry.Fail("must not be negative");
    resources[name] = amount;
  }
  return resources;
}

rules::PodRequirements DecodePodSpec(const Field& pod_spec, const TextMap& labels) {
  return Decode(pod_spec, pod_spec["status"], labels, "");  // a PodSpec has no status
}

rules::PodRequirements DecodePodOnNode(const Field& pod, const TextMap& labels) {
  return Decode(pod["spec"], pod["status"], labels, pod["metadata"]["name"].Str());
}

}  // namespace weft::api
