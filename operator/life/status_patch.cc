#include "operator/life/status_patch.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "operator/base/seeded_bug.h"

namespace weft::life {

namespace {

using Json = nlohmann::json;

using Removes = std::function<bool(std::string_view name)>;

Json Difference(const Json& before, const Json& after, const Removes& removes);

// What turns the members of `before` that `after` has into those.
Json Changes(const Json& before, const Json& after, const Removes& removes) {
  Json patch = Json::object();
  for (const auto& [key, value] : after.items()) {
    const Json was = before.value(key, Json());
    if (was == value) continue;
    Json change = Difference(was, value, removes);
    if (!was.is_object() || !value.is_object() || !change.empty()) patch[key] = std::move(change);
  }
  return patch;
}

// Of members that `after` lacks, only those of a name that `removes` are removed.
// NOLINTNEXTLINE(misc-no-recursion): as deep as the object
Json Difference(const Json& before, const Json& after, const Removes& removes) {
  if (!before.is_object() || !after.is_object()) return after;
  Json patch = Changes(before, after, removes);
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key) && removes(key)) patch[key] = nullptr;
  }
  return patch;
}

bool IsIn(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool RemoveAll(std::string_view) { return !Seeded(Bug::kQueueMerged); }

Json Patch(const Json& stored, const Json& after, std::span<const std::string_view> own,
           const Removes& removes) {
  const Json before = stored.is_object() ? stored : Json::object();
  Json patch = Changes(before, after, removes);
  for (const std::string_view field : own) {
    if (!after.contains(field) && before.contains(field)) patch[std::string(field)] = nullptr;
  }
  return patch.empty() ? Json() : patch;
}

}  // namespace

Json MergePatch(const Json& before, const Json& after) {
  return Difference(before, after, RemoveAll);
}

Json StatusPatch(const Json& before, const Json& after, std::span<const std::string_view> own) {
  return Patch(before, after, own, RemoveAll);
}

Json StatusPatch(const Json& before, const Json& after, std::span<const std::string_view> own,
                 std::span<const std::string_view> inside) {
  return Patch(before, after, own, [&](std::string_view name) {
    return IsIn(inside, name) && !Seeded(Bug::kOldFailureStays);
  });
}

}  // namespace weft::life
