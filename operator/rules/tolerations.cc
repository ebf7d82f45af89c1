#include "operator/rules/tolerations.h"

#include <algorithm>
#include <optional>

#include "operator/fabric/selector.h"

namespace weft::rules {

namespace {

// Whether the text is a canonical integer: without plus sign or leading zero, and not "-0".
bool IsCanonicalInteger(std::string_view text) {
  if (text.starts_with('-')) {
    text.remove_prefix(1);
    if (text == "0") return false;
  }
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<std::int64_t> ParseCanonicalInteger(std::string_view text) {
  return IsCanonicalInteger(text) ? fabric::ParseInteger(text) : std::nullopt;
}

}  // namespace

bool Tolerates(const Toleration& toleration, const fabric::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op.empty() || toleration.op == "Equal") return toleration.value == taint.value;
  if (toleration.op == "Exists") return true;
  if (toleration.op != "Lt" && toleration.op != "Gt") return false;
  const auto bound = ParseCanonicalInteger(toleration.value);
  const auto value = ParseCanonicalInteger(taint.value);
  if (!bound || !value) return false;
  return toleration.op == "Lt" ? *value < *bound : *value > *bound;
}

bool TolerateTaint(std::span<const Toleration> tolerations, const fabric::Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& t) { return Tolerates(t, taint); });
}

const fabric::Taint* FirstUntolerated(std::span<const fabric::Taint> taints,
                                      std::span<const Toleration> tolerations) {
  for (const fabric::Taint& taint : taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (!TolerateTaint(tolerations, taint)) return &taint;
  }
  return nullptr;
}

bool PassesByItself(std::string_view taint_key) {
  constexpr std::string_view kWhole[] = {
      "node.kubernetes.io/unreachable",         "node.kubernetes.io/memory-pressure",
      "node.kubernetes.io/disk-pressure",       "node.kubernetes.io/pid-pressure",
      "node.kubernetes.io/network-unavailable", "node.kubernetes.io/unschedulable",
      "node.cluster.x-k8s.io/uninitialized",    "karpenter.sh/unregistered"};
  constexpr std::string_view kBegin[] = {"node.cloudprovider.kubernetes.io/",
                                         "readiness.k8s.io/",
                                         "startup-taint.cluster-autoscaler.kubernetes.io/",
                                         "status-taint.cluster-autoscaler.kubernetes.io/",
                                         "ignore-taint.cluster-autoscaler.kubernetes.io/"};
  const auto begins = [&](std::string_view with) { return taint_key.starts_with(with); };
  return taint_key.ends_with("not-ready") ||
         std::find(std::begin(kWhole), std::end(kWhole), taint_key) != std::end(kWhole) ||
         std::any_of(std::begin(kBegin), std::end(kBegin), begins);
}

std::string TaintText(const fabric::Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

}  // namespace weft::rules
