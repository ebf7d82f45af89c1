#include "operator/cluster/cluster.h"

#include <algorithm>

#include "operator/cluster/text.h"

namespace weft::cluster {

bool LinksDeclared(const fabric::Fabric& on) {
  const auto assumed = [](const fabric::Link& link) {
    return link.source == fabric::BandwidthSource::kAssumed;
  };
  const auto assumed_plane = [&](const fabric::Plane& plane) { return assumed(plane.link); };
  if (std::any_of(on.planes().begin(), on.planes().end(), assumed_plane)) return false;
  if (on.torus() != nullptr && assumed(on.torus_link())) return false;
  return std::none_of(on.tiers().begin(), on.tiers().end(),
                      [&](const fabric::TierInfo& tier) { return assumed(tier.link); });
}

std::string AbsentTorusesText(const fabric::Fabric& on) {
  if (on.absent_toruses().empty()) return "";
  return "torus.shapes names domains of " + on.spec().torus->level +
         " that have no complete node: " + NameSome(on.absent_toruses());
}

bool ClusterFabric::LinksDeclared() const { return cluster::LinksDeclared(*fabric); }

std::optional<std::size_t> Cluster::FindFabric(const std::string& name) const {
  for (std::size_t f = 0; f < fabrics.size(); ++f) {
    if (fabrics[f].name() == name) return f;
  }
  return std::nullopt;
}

}  // namespace weft::cluster
