#include "operator/life/made_for.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "operator/base/seeded_bug.h"
#include "operator/base/short_hash.h"

namespace weft::life {
namespace {

// Of all that only a suspended job may change.
std::string SpecHash(const api::TrainingJob& job) {
  if (!job.raw) return "";
  const auto spec = job.raw->find("spec");
  if (spec == job.raw->end()) return "";
  nlohmann::json parts;
  for (const char* part :
       {"accelerator", "fabricName", "framework", "parallelism", "topology", "workers"}) {
    if (const auto found = spec->find(part); found != spec->end()) parts[part] = *found;
  }
  return ShortHash(parts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string MadeFor(const api::TrainingJob& job) {
  return std::to_string(job.meta.generation) + " " + SpecHash(job);
}

bool IsMadeFor(const api::Placement& placement, const api::TrainingJob& job) {
  if (Seeded(Bug::kTwoSpecs)) return true;
  if (placement.nodes.size() != job.replicas) return false;
  const auto mark = placement.meta.annotations.At(kMadeForAnnotation);
  if (!mark) return true;
  const std::string_view generation = mark->substr(0, mark->find(' '));
  if (generation == std::to_string(job.meta.generation)) return true;
  return mark->substr(generation.size()) == " " + SpecHash(job);
}

}  // namespace weft::life
