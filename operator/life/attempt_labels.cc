#include "operator/life/attempt_labels.h"

#include <charconv>
#include <string_view>

#include "operator/cluster/placement_pods.h"
#include "operator/life/job_view.h"

namespace weft::life {
namespace {

// A label with a larger number is not ours, and counting on from it could overflow.
constexpr std::int64_t kAttemptsAtMost = 2'147'483'647;

template <typename Number>
std::optional<Number> LabelNumber(const api::ObjectMeta& meta, const char* key) {
  const std::string_view text = meta.labels.At(key).value_or("");
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || stop != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> AttemptLabel(const api::ObjectMeta& meta) {
  const auto attempt = LabelNumber<std::int64_t>(meta, cluster::kAttemptLabel);
  if (!attempt || *attempt < 0 || *attempt > kAttemptsAtMost) return std::nullopt;
  return attempt;
}

std::optional<WorkerIndex> WorkerLabel(const api::ObjectMeta& meta) {
  const auto worker = LabelNumber<std::uint32_t>(meta, cluster::kWorkerIndexLabel);
  return worker ? std::optional(WorkerIndex(*worker)) : std::nullopt;
}

bool IsOfJob(const api::ObjectMeta& meta, std::string_view uid) {
  if (meta.owners.empty()) return meta.labels.At(cluster::kJobUidLabel) == uid;
  const api::OwnerReference* owner = api::ControllingJob(meta);
  return owner != nullptr && owner->uid == uid;
}

}  // namespace weft::life
