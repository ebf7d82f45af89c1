#include "operator/life/quota.h"

#include <string_view>

#include "operator/base/quantity.h"
#include "operator/base/units.h"

namespace weft::life {
namespace {

constexpr std::int64_t kMilli = 1'000;

// The amount in thousandths that a quota counts under that name; 0 for names that are not checked
// here.
std::int64_t AmountOf(const api::Pod& pod, std::string_view counted) {
  if (counted == "pods" || counted == "count/pods") return kMilli;
  constexpr std::string_view kRequests = "requests.";
  if (counted.starts_with(kRequests)) counted.remove_prefix(kRequests.size());
  const auto found = pod.pod.requests.find(std::string(counted));
  if (found == pod.pod.requests.end()) return 0;
  return counted == "cpu" ? found->second : SaturatingMultiply(found->second, kMilli);
}

std::string QuantityText(std::int64_t milli) {
  return milli % kMilli == 0 ? FormatQuantity(milli / kMilli) : std::to_string(milli) + "m";
}

// Appends to a list such as "pods=4,requests.nvidia.com/gpu=32".
void Append(std::string& list, const std::string& name, const std::string& amount) {
  list += (list.empty() ? "" : ",") + name + "=" + amount;
}

}  // namespace

std::optional<std::string> ExceededQuota(const api::Pod& worker, std::int64_t workers,
                                         const std::vector<api::ResourceQuota>& quotas) {
  for (const api::ResourceQuota& quota : quotas) {
    if (quota.scoped) continue;
    std::string requested, used, limited;
    for (const auto& [name, limit] : quota.limits) {
      const std::int64_t needed = SaturatingMultiply(AmountOf(worker, name), workers);
      if (needed == 0 || SaturatingAdd(limit.used, needed) <= limit.hard) continue;
      Append(requested, name, QuantityText(needed));
      Append(used, name, QuantityText(limit.used));
      Append(limited, name, QuantityText(limit.hard));
    }
    if (requested.empty()) continue;
    return std::to_string(workers) + " workers at once: exceeded quota: " + quota.meta.key.name +
           ", requested: " + requested + ", used: " + used + ", limited: " + limited;
  }
  return std::nullopt;
}

}  // namespace weft::life
