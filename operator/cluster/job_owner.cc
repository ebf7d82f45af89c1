#include "operator/cluster/job_owner.h"

namespace weft::cluster {

std::optional<JobOwner> JobOwnerOf(const api::ObjectMeta& meta) {
  if (const auto* owner = api::ControllingJob(meta)) return JobOwner{owner->name, owner->uid};
  if (!meta.uid.empty()) return std::nullopt;
  const auto label = meta.labels.At(api::kJobNameLabel);
  if (!label) return std::nullopt;
  return JobOwner{std::string(*label), ""};
}

}  // namespace weft::cluster
