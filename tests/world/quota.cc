// ResourceQuota.
#include "tests/world/quota.h"

#include <utility>

#include "operator/api/json_member.h"
#include "operator/api/json_text.h"
#include "operator/base/quantity.h"
#include "tests/world/pods.h"
#include "tests/world/state.h"

namespace weft::world {
namespace {

std::int64_t MilliOf(const Json& amount) {
  const std::string text = amount.is_string() ? amount.get<std::string>() : api::JsonText(amount);
  const auto parsed = ParseMilliQuantity(text);
  return parsed ? *parsed : 0;
}

void AddAmounts(const Json& container, const char* kind, const std::string& prefix, Usage& usage) {
  const Json* resources = api::FindMember(container, "resources");
  const Json* amounts = resources == nullptr ? nullptr : api::FindMember(*resources, kind);
  if (amounts == nullptr) return;
  for (const auto& [name, amount] : amounts->items()) {
    usage[prefix + name] += MilliOf(amount);
    const bool basic = name == "cpu" || name == "memory" || name == "ephemeral-storage";
    if (prefix == "requests." && basic) usage[name] += MilliOf(amount);
  }
}

}  // namespace

Usage UsageOf(const std::string& resource, const Json& object) {
  constexpr std::int64_t kOne = 1'000;
  Usage usage = {{"count/" + resource, kOne}};
  for (const char* name : {"configmaps", "secrets", "services", "resourcequotas"}) {
    if (resource == name) usage[name] = kOne;
  }
  if (resource != "pods") return usage;
  if (IsTerminal(object)) return usage;
  usage["pods"] = kOne;
  const Json* containers = api::FindMember(object.at("spec"), "containers");
  if (containers == nullptr) return usage;
  for (const Json& container : *containers) {
    AddAmounts(container, "requests", "requests.", usage);
    AddAmounts(container, "limits", "limits.", usage);
  }
  return usage;
}

std::string AmountText(std::int64_t milli) {
  return milli % 1'000 == 0 ? std::to_string(milli / 1'000) : std::to_string(milli) + "m";
}

// As the admission plug-in: it counts from status.used, which only a quota controller lowers.
Refusal ApiServer::State::CheckQuota(const Call& call, const Json& object) {
  Collection& quotas = *CollectionOf("resourcequotas");
  const std::string& space = call.target.key.space;
  const Usage usage = UsageOf(call.target.kind().resource, object);
  const std::string name = api::KeyOf(object).name;
  std::vector<std::pair<api::ObjectKey, Json>> updates;
  for (auto i = quotas.objects.lower_bound({space, ""}); i != quotas.objects.end(); ++i) {
    if (i->first.space != space) break;
    const Json* status = api::FindMember(*i->second, "status");
    const Json* hard = status == nullptr ? nullptr : api::FindMember(*status, "hard");
    if (hard == nullptr) continue;
    Json next = *i->second;
    Json& used = next["status"]["used"];
    std::string requested, had, limited;
    for (const auto& [resource, limit] : hard->items()) {
      const auto asked = usage.find(resource);
      if (asked == usage.end()) continue;
      const std::int64_t now = used.contains(resource) ? MilliOf(used[resource]) : 0;
      if (now + asked->second > MilliOf(limit)) {
        const std::string comma = requested.empty() ? "" : ",";
        requested += comma + resource + "=" + AmountText(asked->second);
        had += comma + resource + "=" + AmountText(now);
        limited += comma + resource + "=" + (limit.is_string() ? limit.get<std::string>() : "");
      }
      used[resource] = AmountText(now + asked->second);
    }
    if (!requested.empty()) {
      return Forbidden(call.target.kind(), name,
                       "exceeded quota: " + i->first.name + ", requested: " + requested +
                           ", used: " + had + ", limited: " + limited);
    }
    if (next != *i->second) updates.emplace_back(i->first, std::move(next));
  }
  if (updates.empty() || call.dry_run) return std::nullopt;
  if (quota_conflicts > 0) {
    --quota_conflicts;
    return Changed(quotas.kind, updates[0].first.name);
  }
  for (auto& [key, next] : updates) Store(quotas, key, std::move(next), "system:apiserver");
  return std::nullopt;
}

}  // namespace weft::world
