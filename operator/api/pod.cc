#include "operator/api/pod.h"

#include <algorithm>
#include <array>

#include "operator/base/seeded_bug.h"

namespace weft::api {
namespace {

constexpr std::array<std::string_view, 6> kPodPhases = {  // by PodPhase
    "", "Pending", "Running", "Succeeded", "Failed", "Unknown"};

}  // namespace

PodPhase ParsePodPhase(std::string_view text) {
  const auto found = std::find(kPodPhases.begin(), kPodPhases.end(), text);
  if (found == kPodPhases.end()) return PodPhase::kUnknown;
  return static_cast<PodPhase>(found - kPodPhases.begin());
}

std::string_view PodPhaseName(PodPhase phase) {
  return kPodPhases[static_cast<std::size_t>(phase)];
}

bool Pod::Holds() const {
  if (Seeded(Bug::kClaimsFreedEarly) && meta.deleting) return false;
  return !node_name.empty() && !HasEnded();
}

}  // namespace weft::api
