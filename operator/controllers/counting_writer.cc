#include "operator/controllers/counting_writer.h"

#include <chrono>
#include <nlohmann/json.hpp>

namespace weft::controllers {
namespace {

const char* KindName(Kind kind) {
  switch (kind) {
    case Kind::kPod:
      return "Pod";
    case Kind::kService:
      return "Service";
    case Kind::kConfigMap:
      return "ConfigMap";
    case Kind::kSecret:
      return "Secret";
    case Kind::kComputeDomain:
      return "ComputeDomain";
    case Kind::kClaimTemplate:
      return "ResourceClaimTemplate";
    case Kind::kPodGroup:
      return "PodGroup";
    case Kind::kPlacement:
      return "Placement";
    case Kind::kTrainingJob:
      return "TrainingJob";
    case Kind::kFabric:
      return "Fabric";
    case Kind::kResourceQuota:
      return "ResourceQuota";
    case Kind::kWorkload:
      return "Workload";
    case Kind::kAdmissionCheck:
      return "AdmissionCheck";
    case Kind::kWorkloadPriorityClass:
      return "WorkloadPriorityClass";
  }
  return "";
}

const char* ResultName(const Error& error) {
  switch (error.kind) {
    case ErrorKind::kInvalid:
      return "Invalid";
    case ErrorKind::kNotFound:
      return "NotFound";
    case ErrorKind::kConflict:
      return "Conflict";
    case ErrorKind::kTransient:
      return "Error";
  }
  return "Error";
}

}  // namespace

template <typename Call>
auto CountingWriter::Count(const char* verb, Kind kind, const Call& call) {
  const run::Instant start = clock_.Now();
  auto answer = call();
  const std::chrono::duration<double> time = clock_.Now() - start;
  counters_.Observe(metrics::Id::kApiWriteSeconds, {verb}, time.count());
  counters_.Add(metrics::Id::kApiWrites,
                {verb, KindName(kind), answer ? "OK" : ResultName(answer.error())});
  return answer;
}

Result<nlohmann::json> CountingWriter::Create(Kind kind, const nlohmann::json& object,
                                              bool dry_run) {
  return Count(dry_run ? "dry-run" : "create", kind,
               [&] { return writer_.Create(kind, object, dry_run); });
}
Result<nlohmann::json> CountingWriter::Get(const Target& target) { return writer_.Get(target); }
Result<nlohmann::json> CountingWriter::GetOwner(const api::OwnerReference& owner,
                                                const std::string& space) {
  return writer_.GetOwner(owner, space);
}
Result<nlohmann::json> CountingWriter::WarningsIn(const std::string& space) {
  return writer_.WarningsIn(space);
}
Result<nlohmann::json> CountingWriter::PullsIn(const std::string& space) {
  return writer_.PullsIn(space);
}

Result<nlohmann::json> CountingWriter::Patch(const Target& target, const nlohmann::json& patch) {
  return Count("patch", target.kind, [&] { return writer_.Patch(target, patch); });
}
Result<nlohmann::json> CountingWriter::PatchStatus(const Target& target,
                                                   const nlohmann::json& patch) {
  return Count("patch-status", target.kind, [&] { return writer_.PatchStatus(target, patch); });
}
Result<nlohmann::json> CountingWriter::PatchExactly(const Target& target,
                                                    const nlohmann::json& operations) {
  return Count("patch", target.kind, [&] { return writer_.PatchExactly(target, operations); });
}
Status CountingWriter::Delete(const Target& target) {
  return Count("delete", target.kind, [&] { return writer_.Delete(target); });
}
Status CountingWriter::Evict(const Target& target) {
  return Count("evict", target.kind, [&] { return writer_.Evict(target); });
}

}  // namespace weft::controllers
