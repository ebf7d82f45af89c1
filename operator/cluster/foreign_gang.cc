#include "operator/cluster/foreign_gang.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "operator/api/gang_annotations.h"
#include "operator/cluster/gangs.h"
#include "operator/cluster/pod_labels.h"

namespace weft::cluster {
namespace {

constexpr std::size_t kNameBytes = 63;  // of a label's value

// FNV-1a, as eight hexadecimal digits.
std::string HashOf(const std::vector<std::string_view>& parts) {
  std::uint32_t hash = 2'166'136'261;
  const auto add = [&hash](unsigned char byte) { hash = (hash ^ byte) * 16'777'619; };
  for (const std::string_view part : parts) {
    for (const char byte : part) add(static_cast<unsigned char>(byte));
    add(0);
  }
  char text[9];
  std::snprintf(text, sizeof text, "%08x", hash);
  return text;
}

// A name of at most `bytes` that ends with `end`.
std::string Named(std::string front, const std::string& end, std::size_t bytes) {
  front.resize(std::min(front.size(), bytes - end.size() - 1));
  while (!front.empty() && (front.back() == '-' || front.back() == '.')) front.pop_back();
  return front + "-" + end;
}

// Fills a gang from the labels of one of its pods.
class Reading {
 public:
  explicit Reading(const api::Pod& pod) : pod_(pod) {}

  Result<ForeignGang> Read() {
    gang_.kind = OwnerOf(pod_).kind;
    if (FindLabel(pod_, kLeaderWorkerSet)) {
      TakeGroup();
    } else if (FindLabel(pod_, kJobSetName)) {
      TakeJobSet();
    } else if (FindLabel(pod_, kKubeflowJobName)) {
      TakeKubeflowJob();
    } else if (gang_.kind == "Job") {
      gang_.owner = OwnerOf(pod_).key.name;
      uid_ = Select(kBatchJobUid);
    } else if (gang_.kind == "RayCluster") {
      gang_.owner = Select(kRayCluster);
      gang_.part = Select(kRayGroup);
      uid_ = ControllerOf(pod_)->uid;
    } else if (gang_.kind == kPodGroupKind) {
      gang_.kind = "Pod";
      gang_.owner = Select(kPodGroup);
    } else {
      missing_ = gang_.kind.empty() ? kPodGroup : "";
    }
    if (missing_) return Unknown();
    gang_.selector[api::kPlaceLabel] = "true";
    return Finish();
  }

 private:
  // The label's value; the selector takes it.
  std::string Select(const char* key) {
    const auto value = pod_.meta.labels.At(key);
    if (!value) {
      missing_ = key;
      return "";
    }
    return gang_.selector[key] = std::string(*value);
  }

  void TakeGroup() {
    gang_.kind = "LeaderWorkerSet";
    gang_.owner = Select(kLeaderWorkerSet);
    gang_.part = Select(kLeaderGroup);
  }

  // The uid is not in the names (the launcher of an MPIJob is controlled by a Job): PresentObject
  // tells the pods of an earlier object apart.
  void TakeKubeflowJob() {
    gang_.owner = Select(kKubeflowJobName);
    if (pod_.meta.labels.contains(kKubeflowOperator)) Select(kKubeflowOperator);
  }

  // Earlier releases of JobSet write no uid.
  void TakeJobSet() {
    gang_.owner = FindLabel(pod_, kJobSetName).value_or("");
    if (pod_.meta.labels.contains(kJobSetUid)) {
      uid_ = Select(kJobSetUid);
    } else {
      Select(kJobSetName);
    }
    const auto part = pod_.meta.labels.At(kJobSetPart);
    if (part == kTrainerLauncher || part == kTrainerNode) {
      named_part_ = kTrainerNode;
    } else {
      gang_.part = Select(kJobSetPart);
    }
    attempt_ = Select(kJobSetAttempt);
  }

  Error Unknown() const {
    std::string text = "pod " + pod_.meta.key.name;
    if (gang_.kind.empty()) {
      text += " has no controller";
    } else {
      text += " belongs to a " + gang_.kind;
    }
    if (*missing_ != '\0') {
      text += gang_.kind.empty() ? " and no label " : ", but has no label ";
      text += missing_;
    }
    return Invalid(text +
                   ", so Weft cannot tell the workers that start together; create a "
                   "Placement for them, with a podSelector");
  }

  ForeignGang Finish() {
    const std::string& part = named_part_.empty() ? gang_.part : named_part_;
    const std::string name = part.empty() ? gang_.owner : gang_.owner + "-" + part;
    // Not all parts of a TrainJob need have the label that tells it from a JobSet.
    const std::string kind = named_part_.empty() ? gang_.kind : "JobSet";
    const std::string end = HashOf({kind, gang_.owner, part, uid_});
    const std::size_t attempt = attempt_.empty() ? 0 : attempt_.size() + 1;
    gang_.base = Named(name, end, kNameBytes);
    gang_.placement_name = attempt == 0 ? gang_.base : Named(gang_.base, attempt_, kNameBytes);
    // A base that is cut for the attempt would lose its hash.
    if (gang_.base.size() + attempt > kNameBytes) {
      gang_.base = Named(name, end, kNameBytes - attempt);
      gang_.placement_name = gang_.base + "-" + attempt_;
    }
    return std::move(gang_);
  }

  const api::Pod& pod_;
  ForeignGang gang_;
  std::string uid_, attempt_;
  std::string named_part_;         // in the names, if the gang has several parts
  const char* missing_ = nullptr;  // the label that is missing; "": no label would help
};

api::OwnerReference Itself(const api::Pod& pod) {
  return {"v1", "Pod", pod.meta.key.name, pod.meta.uid, false};
}

}  // namespace

Result<ForeignGang> ForeignGangOf(const api::Pod& pod) { return Reading(pod).Read(); }

std::string RequestHash(const api::Pod& pod) {
  std::vector<std::string_view> parts;
  for (const auto& [key, value] : pod.meta.annotations) {
    if (!api::IsGangAnnotation(key) && key != kLeaderSize && key != kPodGroupSize) continue;
    parts.push_back(key);
    parts.push_back(value);
  }
  std::string requests;
  for (const auto& [name, amount] : pod.pod.requests) {
    requests += name + "=" + std::to_string(amount) + ",";
  }
  parts.push_back(requests);
  return HashOf(parts);
}

api::OwnerReference GangOwner(const ForeignGang& gang, const std::vector<const api::Pod*>& pods) {
  const api::Pod& first = *pods.front();
  if (const auto uid = first.meta.labels.At(kJobSetUid);
      uid && gang.selector.contains(kJobSetUid)) {
    return {"jobset.x-k8s.io/v1alpha2", "JobSet", gang.owner, std::string(*uid), false};
  }
  for (const api::Pod* pod : pods) {
    const api::OwnerReference* owner = ControllerOf(*pod);
    if (owner == nullptr) continue;
    const bool leads = gang.kind == "LeaderWorkerSet" && FindNumber(*pod, kLeaderWorker) == 0;
    if (owner->kind == gang.kind || leads) return *owner;
  }
  const api::OwnerReference* owner = ControllerOf(first);
  return owner != nullptr ? *owner : Itself(first);
}

}  // namespace weft::cluster
