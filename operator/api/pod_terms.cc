#include "operator/api/pod_terms.h"

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "operator/api/encode.h"

namespace weft::api {
namespace {

using fabric::ClaimedVolume;
using fabric::HostPort;
using fabric::PodTerm;
using fabric::PodTerms;
using fabric::SpreadRule;
using OrderedJson = nlohmann::ordered_json;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr const char* kHard = "DoNotSchedule";
constexpr const char* kSoft = "ScheduleAnyway";
constexpr std::string_view kAnyAddress = "0.0.0.0";

void DecodePorts(const Field& container, bool host_network, std::vector<HostPort>& ports) {
  for (const Field& item : container["ports"].Items()) {
    HostPort port;
    port.port = item["hostPort"].Int();
    if (port.port == 0 && host_network) port.port = item["containerPort"].Int();
    if (port.port == 0) continue;
    port.protocol = item["protocol"].Str("TCP");
    port.address = item["hostIP"].Str();
    if (port.address == kAnyAddress) port.address.clear();
    ports.push_back(std::move(port));
  }
}

// Adds the pod's own value of each of these labels as a requirement.
void AddKeys(const Field& keys, const char* op, const TextMap& labels,
             std::optional<fabric::LabelSelector>& selector) {
  for (const std::string& key : keys.StrList()) {
    const auto value = labels.At(key);
    if (value && selector) selector->match_expressions.push_back({key, op, {std::string(*value)}});
  }
}

std::optional<fabric::LabelSelector> DecodeSelector(const Field& owner, const TextMap& labels) {
  std::optional<fabric::LabelSelector> selector;
  if (const Field given = owner["labelSelector"]; given.present()) {
    selector = DecodeLabelSelector(given);
  }
  AddKeys(owner["matchLabelKeys"], "In", labels, selector);
  AddKeys(owner["mismatchLabelKeys"], "NotIn", labels, selector);
  return selector;
}

PodTerm DecodeTerm(const Field& item, const TextMap& labels) {
  PodTerm term;
  term.topology_key = item["topologyKey"].Str();
  term.selector = DecodeSelector(item, labels);
  term.namespaces = item["namespaces"].StrList();
  if (const Field spaces = item["namespaceSelector"]; spaces.present()) {
    fabric::LabelSelector selector = DecodeLabelSelector(spaces);
    term.all_namespaces = selector == fabric::LabelSelector();
    if (!term.all_namespaces) term.space_selector = std::move(selector);
  }
  return term;
}

std::vector<PodTerm> DecodeTerms(const Field& list, const TextMap& labels) {
  std::vector<PodTerm> terms;
  for (const Field& item : list.Items()) {
    terms.push_back(DecodeTerm(item, labels));
  }
  return terms;
}

void DecodePreferred(const Field& list, std::int64_t sign, const TextMap& labels,
                     std::vector<fabric::PreferredPodTerm>& preferred) {
  for (const Field& item : list.Items()) {
    preferred.push_back({sign * item["weight"].Int(), DecodeTerm(item["podAffinityTerm"], labels)});
  }
}

std::vector<SpreadRule> DecodeSpread(const Field& list, const char* action, const TextMap& labels) {
  std::vector<SpreadRule> rules;
  for (const Field& item : list.Items()) {
    if (item["whenUnsatisfiable"].Str() != action) continue;
    SpreadRule rule;
    rule.topology_key = item["topologyKey"].Str();
    rule.max_skew = item["maxSkew"].Int({.min = 1}, 1);
    rule.min_domains = item["minDomains"].Int({.min = 1}, 1);
    rule.selector = DecodeSelector(item, labels);
    rule.honor_affinity = item["nodeAffinityPolicy"].Str("Honor") == "Honor";
    rule.honor_taints = item["nodeTaintsPolicy"].Str() == "Honor";
    rules.push_back(std::move(rule));
  }
  return rules;
}

// kube-apiserver writes the source of a volume beside its name, protobuf into `volumeSource`.
const std::string kAnyPod = "<pod>-";

std::vector<ClaimedVolume> DecodeVolumes(const Field& list, const std::string& pod) {
  std::vector<ClaimedVolume> volumes;
  for (const Field& item : list.Items()) {
    const Field nested = item["volumeSource"], source = nested.present() ? nested : item;
    ClaimedVolume volume;
    if (const Field claim = source["persistentVolumeClaim"]; claim.present()) {
      volume.claim = claim["claimName"].Str();
    } else if (const Field own = source["ephemeral"]; own.present()) {
      const Field spec = own["volumeClaimTemplate"]["spec"];
      volume.own = true;
      // Of a template: no claim can have this name.
      volume.claim = (pod.empty() ? kAnyPod : pod + "-") + item["name"].Str();
      volume.storage_class = spec["storageClassName"].Str();
      volume.access_modes = spec["accessModes"].StrList();
      volume.bytes = spec["resources"]["requests"]["storage"].Quantity();
      volume.block = spec["volumeMode"].Str() == "Block";
    } else {
      continue;
    }
    volumes.push_back(std::move(volume));
  }
  return volumes;
}

OrderedJson EncodeVolume(const ClaimedVolume& volume, const std::string& pod) {
  if (!volume.own) return {{"persistentVolumeClaim", {{"claimName", volume.claim}}}};
  const std::string before = pod.empty() ? kAnyPod : pod + "-";
  const bool named = volume.claim.starts_with(before);
  OrderedJson spec = OrderedJson::object();
  if (!volume.storage_class.empty()) spec["storageClassName"] = volume.storage_class;
  if (!volume.access_modes.empty()) spec["accessModes"] = volume.access_modes;
  if (volume.bytes != 0) spec["resources"]["requests"]["storage"] = std::to_string(volume.bytes);
  if (volume.block) spec["volumeMode"] = "Block";
  return {{"name", named ? volume.claim.substr(before.size()) : volume.claim},
          {"ephemeral", {{"volumeClaimTemplate", {{"spec", std::move(spec)}}}}}};
}

OrderedJson EncodeTerm(const PodTerm& term) {
  OrderedJson out = {{"topologyKey", term.topology_key}};
  if (term.selector) out["labelSelector"] = EncodeLabelSelector(*term.selector);
  if (!term.namespaces.empty()) out["namespaces"] = term.namespaces;
  if (term.all_namespaces) out["namespaceSelector"] = OrderedJson::object();
  if (term.space_selector) out["namespaceSelector"] = EncodeLabelSelector(*term.space_selector);
  return out;
}

OrderedJson EncodeTerms(const std::vector<PodTerm>& terms) {
  OrderedJson out = OrderedJson::array();
  for (const PodTerm& term : terms) out.push_back(EncodeTerm(term));
  return out;
}

OrderedJson EncodeSpread(const SpreadRule& rule, const char* action) {
  OrderedJson out = {{"maxSkew", rule.max_skew},
                     {"topologyKey", rule.topology_key},
                     {"whenUnsatisfiable", action}};
  if (rule.min_domains != 1) out["minDomains"] = rule.min_domains;
  if (rule.selector) out["labelSelector"] = EncodeLabelSelector(*rule.selector);
  if (!rule.honor_affinity) out["nodeAffinityPolicy"] = "Ignore";
  if (rule.honor_taints) out["nodeTaintsPolicy"] = "Honor";
  return out;
}

}  // namespace

PodTerms DecodePodTerms(const Field& pod_spec, const TextMap& labels, const std::string& name) {
  PodTerms terms;
  const bool host_network = pod_spec["hostNetwork"].Bool();
  for (const Field& container : pod_spec["containers"].Items()) {
    DecodePorts(container, host_network, terms.host_ports);
  }
  for (const Field& container : pod_spec["initContainers"].Items()) {
    if (container["restartPolicy"].Str() != "Always") continue;
    DecodePorts(container, host_network, terms.host_ports);
  }
  const Field affinity = pod_spec["affinity"];
  terms.affinity = DecodeTerms(affinity["podAffinity"][kRequired], labels);
  terms.anti_affinity = DecodeTerms(affinity["podAntiAffinity"][kRequired], labels);
  const Field spread = pod_spec["topologySpreadConstraints"];
  terms.spread = DecodeSpread(spread, kHard, labels);
  terms.preferred_spread = DecodeSpread(spread, kSoft, labels);
  DecodePreferred(affinity["podAffinity"][kPreferred], 1, labels, terms.preferred);
  DecodePreferred(affinity["podAntiAffinity"][kPreferred], -1, labels, terms.preferred);
  terms.volumes = DecodeVolumes(pod_spec["volumes"], name);
  return terms;
}

void EncodePodTerms(const PodTerms& terms, OrderedJson& pod_spec, const std::string& name) {
  for (const HostPort& port : terms.host_ports) {
    OrderedJson one = {{"containerPort", port.port}, {"hostPort", port.port}};
    if (port.protocol != "TCP") one["protocol"] = port.protocol;
    if (!port.address.empty()) one["hostIP"] = port.address;
    pod_spec["containers"][0]["ports"].push_back(std::move(one));
  }
  if (!terms.affinity.empty()) {
    pod_spec["affinity"]["podAffinity"][kRequired] = EncodeTerms(terms.affinity);
  }
  if (!terms.anti_affinity.empty()) {
    pod_spec["affinity"]["podAntiAffinity"][kRequired] = EncodeTerms(terms.anti_affinity);
  }
  for (const fabric::PreferredPodTerm& one : terms.preferred) {
    const char* kind = one.weight < 0 ? "podAntiAffinity" : "podAffinity";
    pod_spec["affinity"][kind][kPreferred].push_back(
        {{"weight", std::abs(one.weight)}, {"podAffinityTerm", EncodeTerm(one.term)}});
  }
  for (const SpreadRule& rule : terms.spread) {
    pod_spec["topologySpreadConstraints"].push_back(EncodeSpread(rule, kHard));
  }
  for (const SpreadRule& rule : terms.preferred_spread) {
    pod_spec["topologySpreadConstraints"].push_back(EncodeSpread(rule, kSoft));
  }
  for (const ClaimedVolume& volume : terms.volumes) {
    OrderedJson one = EncodeVolume(volume, name);
    if (!volume.own) one["name"] = "volume-" + std::to_string(pod_spec["volumes"].size());
    pod_spec["volumes"].push_back(std::move(one));
  }
}

}  // namespace weft::api
