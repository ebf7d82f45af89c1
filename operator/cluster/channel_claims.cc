#include "operator/cluster/channel_claims.h"

#include <algorithm>
#include <optional>

namespace weft::cluster {
namespace {

using ClaimList = std::vector<api::ClaimReference>;

constexpr std::string_view kDaemon = "daemon";  // type of a device, and the begin of its name

// What the claims of a pod are, if they are not so already.
std::optional<ClaimList> Resolved(const ChannelClaims& channels, const std::string& space,
                                  const ClaimList& claims) {
  std::optional<ClaimList> resolved;
  for (std::size_t c = 0; c < claims.size(); ++c) {
    const bool channel = channels.Is(space, claims[c]);
    if (channel == claims[c].channel) continue;
    if (!resolved) resolved = claims;
    (*resolved)[c].channel = channel;
  }
  return resolved;
}

bool AnyChannel(const ClaimList& claims) {
  return std::any_of(claims.begin(), claims.end(), [](const auto& one) { return one.channel; });
}

bool HasClaims(const api::Pod& pod) { return !pod.claims.empty(); }
bool HasClaims(const api::TrainingJob& job) { return !job.claims.empty(); }
bool HasClaims(const api::Placement& one) { return one.proposal && !one.proposal->claims.empty(); }

template <typename List>
bool AnyClaims(const List& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& one) { return HasClaims(one); });
}

}  // namespace

ChannelClaims::ChannelClaims(const api::Inputs& inputs) {
  for (const api::DeviceClass& one : inputs.device_classes) classes_[one.meta.key.name] = &one;
  for (const api::ClaimTemplate& one : inputs.channel_templates) templates_[one.meta.key] = &one;
  for (const api::ClaimTemplate& one : inputs.claim_templates) templates_[one.meta.key] = &one;
  for (const api::ResourceClaim& one : inputs.resource_claims) claims_[one.meta.key] = &one;
}

bool ChannelClaims::IsClass(const std::string& device_class) const {
  const auto found = classes_.find(device_class);
  if (found == classes_.end() || found->second->driver.empty()) {
    return device_class == api::kChannelClass;
  }
  const api::DeviceClass& of = *found->second;
  return of.driver == api::kComputeDomainDriver && of.type != kDaemon;
}

bool ChannelClaims::Asks(const std::vector<api::DeviceRequest>& requests) const {
  return std::any_of(requests.begin(), requests.end(), [&](const api::DeviceRequest& request) {
    if (request.count == 0) return false;
    const auto& others = request.other_classes;
    return IsClass(request.device_class) ||
           std::any_of(others.begin(), others.end(),
                       [&](const std::string& other) { return IsClass(other); });
  });
}

bool ChannelClaims::Holds(const api::ResourceClaim& claim) const {
  if (claim.devices.empty()) return Asks(claim.requests);
  return std::any_of(claim.devices.begin(), claim.devices.end(), [](const auto& device) {
    return device.driver == api::kComputeDomainDriver && !device.name.starts_with(kDaemon);
  });
}

bool ChannelClaims::Is(const std::string& space, const api::ClaimReference& claim) const {
  for (const std::string& name : {claim.claim, claim.made}) {
    const auto found = claims_.find({space, name});
    if (found != claims_.end()) return Holds(*found->second);
  }
  if (!claim.claim.empty()) return claim.channel;
  const auto found = templates_.find({space, claim.claim_template});
  return found == templates_.end() ? claim.channel : Asks(found->second->requests);
}

void ResolveChannelClaims(api::Inputs& inputs) {
  if (!AnyClaims(inputs.pods) && !AnyClaims(inputs.jobs) && !AnyClaims(inputs.placements)) return;
  const ChannelClaims channels(inputs);
  for (std::size_t p = 0; p < inputs.pods.size(); ++p) {
    const api::Pod& was = inputs.pods[p];
    auto claims = Resolved(channels, was.meta.key.space, was.claims);
    if (!claims) continue;
    api::Pod& pod = inputs.pods.Edit(p);
    pod.claims = *std::move(claims);
    pod.pod.claims_compute_domain = AnyChannel(pod.claims);
  }
  for (std::size_t j = 0; j < inputs.jobs.size(); ++j) {
    const api::TrainingJob& was = inputs.jobs[j];
    auto claims = Resolved(channels, was.meta.key.space, was.claims);
    if (!claims) continue;
    api::TrainingJob& job = inputs.jobs.Edit(j);
    job.claims = *std::move(claims);
    job.pod.claims_compute_domain = job.topology.compute_domain || AnyChannel(job.claims);
  }
  for (std::size_t p = 0; p < inputs.placements.size(); ++p) {
    const api::Placement& was = inputs.placements[p];
    if (!was.proposal) continue;
    auto claims = Resolved(channels, was.meta.key.space, was.proposal->claims);
    if (!claims) continue;
    api::Proposal& proposal = *inputs.placements.Edit(p).proposal;
    proposal.claims = *std::move(claims);
    proposal.pod.claims_compute_domain = AnyChannel(proposal.claims);
  }
}

}  // namespace weft::cluster
