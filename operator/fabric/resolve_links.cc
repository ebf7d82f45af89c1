#include "operator/fabric/resolve_links.h"

#include <algorithm>
#include <limits>
#include <string>

#include "operator/base/units.h"
#include "operator/fabric/link_types.h"

namespace weft::fabric {
namespace {

// One 400 Gb/s port per GPU, InfiniBand or Ethernet: the usual network of H100, H200 and B200
// machines (NVIDIA DGX SuperPOD reference architectures).
constexpr std::int64_t kAssumedNetwork = 50'000'000'000;
// NVLink5, the generation of the multi-node NVLink racks (GB200 and GB300 NVL72).
constexpr std::int64_t kAssumedScaleUp = 900'000'000'000;
// ICI of TPU v5p: six links of 100 GB/s (cloud.google.com/tpu/docs/v5p).
constexpr std::int64_t kAssumedTorus = 600'000'000'000;
// NVLink4, inside an eight-GPU H100 or H200 machine.
constexpr std::int64_t kAssumedNode = 450'000'000'000;
// Each assumed wider level is assumed to be tapered 2:1 (measured fabrics: 1:1 to 3:1), up to 16:1.
constexpr std::int64_t kAssumedTaper = 2;
constexpr std::int64_t kAssumedOversubscriptionLimitPercent = 1600;

constexpr std::int64_t kFemtosecondsPerSecond = 1'000'000'000'000'000;
// 1 kB/s. With less than 2^40 femtoseconds per byte, a 128-bit cost has room for 2^87 bytes, more
// than all ranks of a job may send (traffic.cc).
constexpr std::int64_t kSlowestLink = kFemtosecondsPerSecond / 1000;

// round half up of 10^15 * oversubscription / (100 * bandwidth), at least 1; saturating.
std::int64_t FemtosecondsPerByte(std::int64_t bandwidth, std::int64_t oversubscription_percent) {
  const Int128 numerator = static_cast<Int128>(kFemtosecondsPerSecond) * oversubscription_percent;
  const Int128 denominator = static_cast<Int128>(bandwidth) * 100;
  const Int128 rounded = (2 * numerator + denominator) / (2 * denominator);
  if (rounded < 1) return 1;
  if (rounded > std::numeric_limits<std::int64_t>::max()) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return static_cast<std::int64_t>(rounded);
}

Link AssumedLink(std::int64_t bandwidth, std::int64_t oversubscription_percent = 100) {
  return {.type = "",
          .bandwidth_per_gpu = bandwidth,
          .oversubscription_percent = oversubscription_percent,
          .femtoseconds_per_byte = FemtosecondsPerByte(bandwidth, oversubscription_percent),
          .latency_nanoseconds = 0,
          .source = BandwidthSource::kAssumed};
}

// The assumed link of an undeclared level that is the next wider one to `narrower`.
Link Tapered(const Link& narrower) {
  const std::int64_t doubled = SaturatingMultiply(narrower.oversubscription_percent, kAssumedTaper);
  const std::int64_t limit =
      std::max(narrower.oversubscription_percent, kAssumedOversubscriptionLimitPercent);
  return AssumedLink(narrower.bandwidth_per_gpu, std::min(doubled, limit));
}

// Resolves one declared link. `assumed` gives the bandwidth if neither type nor bandwidth is given;
// `limit`: most femtoseconds per byte.
Result<Link> ResolveLink(const LinkSpec& spec, const std::string& path, const Link& assumed,
                         std::int64_t limit) {
  Link link{.type = spec.type,
            .oversubscription_percent = spec.oversubscription_percent,
            .latency_nanoseconds = spec.latency_nanoseconds.value_or(0)};
  if (link.oversubscription_percent < 1) {
    return Invalid(path + ".oversubscriptionPercent: " +
                   std::to_string(link.oversubscription_percent) + " is below 1");
  }
  if (link.latency_nanoseconds < 0) {
    return Invalid(path + ".latencyNanoseconds: " + std::to_string(link.latency_nanoseconds) +
                   " is negative");
  }
  if (spec.bandwidth_per_gpu) {
    if (*spec.bandwidth_per_gpu <= 0) {
      return Invalid(path + ".bandwidthPerGPU: " + std::to_string(*spec.bandwidth_per_gpu) +
                     " bytes per second is not above 0");
    }
    link.bandwidth_per_gpu = *spec.bandwidth_per_gpu;
    link.source = BandwidthSource::kDeclared;
  } else if (!spec.type.empty()) {
    const std::optional<LinkType> known = FindLinkType(spec.type);
    if (!known) {
      return Invalid(path + ".type: \"" + spec.type +
                     "\" is not a known link type; give bandwidthPerGPU with it");
    }
    link.bandwidth_per_gpu = known->bandwidth_per_gpu;
    link.source = BandwidthSource::kKnownType;
  } else {
    link.bandwidth_per_gpu = assumed.bandwidth_per_gpu;
    link.source = BandwidthSource::kAssumed;
  }
  link.femtoseconds_per_byte =
      FemtosecondsPerByte(link.bandwidth_per_gpu, link.oversubscription_percent);
  if (link.femtoseconds_per_byte > limit) {
    return Invalid(path + ": " + std::to_string(link.bandwidth_per_gpu) + " bytes per second at " +
                   std::to_string(link.oversubscription_percent) +
                   " % oversubscription leave one GPU less than 1 kB/s" +
                   (limit < kSlowestLink ? " on a single rail" : ""));
  }
  return link;
}

class Resolver {
 public:
  // The limit has room for a node with only one of its rails, which is `count` times slower.
  explicit Resolver(const FabricSpec& spec)
      : limit_(kSlowestLink / (spec.rails ? std::max(spec.rails->count, 1) : 1)) {}

  Result<Link> operator()(const std::optional<LinkSpec>& spec, const std::string& path,
                          const Link& otherwise) const {
    if (!spec) return otherwise;
    return ResolveLink(*spec, path, otherwise, limit_);
  }

 private:
  std::int64_t limit_;
};

}  // namespace

Result<ResolvedLinks> ResolveLinks(const FabricSpec& spec) {
  const Resolver resolve(spec);
  ResolvedLinks links;
  links.levels.resize(spec.levels.size());
  Link assumed = AssumedLink(kAssumedNetwork);
  for (std::size_t l = spec.levels.size(); l-- > 0;) {
    const std::string path = "spec.levels[" + std::to_string(l) + "].link";
    Result<Link> link = resolve(spec.levels[l].link, path, assumed);
    if (!link) return link.error();
    links.levels[l] = *link;
    assumed = Tapered(*link);
  }
  const bool inherit =
      !links.levels.empty() && links.levels.front().source != BandwidthSource::kAssumed;
  Result<Link> outside =
      resolve(spec.outside, "spec.outside", inherit ? links.levels.front() : assumed);
  if (!outside) return outside.error();
  links.outside = *outside;

  for (std::size_t p = 0; p < spec.planes.size(); ++p) {
    const std::string path = "spec.planes[" + std::to_string(p) + "].link";
    Result<Link> plane = resolve(spec.planes[p].link, path, AssumedLink(kAssumedNetwork));
    if (!plane) return plane.error();
    links.planes.push_back(*plane);
  }

  Link node = AssumedLink(kAssumedNode);
  if (spec.torus) {
    Result<Link> torus = resolve(spec.torus->link, "spec.torus.link", AssumedLink(kAssumedTorus));
    if (!torus) return torus.error();
    node = links.torus = *torus;
  }
  if (spec.scale_up) {
    Result<Link> scale_up =
        resolve(spec.scale_up->link, "spec.scaleUp.link", AssumedLink(kAssumedScaleUp));
    if (!scale_up) return scale_up.error();
    links.scale_up = *scale_up;
    node = links.scale_up;
  }
  Result<Link> node_link = resolve(spec.node_link, "spec.nodeLink", node);
  if (!node_link) return node_link.error();
  links.node = *node_link;
  return links;
}

}  // namespace weft::fabric
