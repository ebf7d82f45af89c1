#include "operator/cluster/volumes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "operator/fabric/node_facts.h"
#include "operator/fabric/selector.h"

namespace weft::cluster {
namespace {

using api::PersistentVolume;
using api::StorageClass;
using api::VolumeClaim;
using rules::NodeSelectorTerm;
using rules::VolumeRules;

constexpr std::string_view kOncePod = "ReadWriteOncePod";

// Labels of a volume that name its zone or region, and those of nodes that say the same.
// Source  Kubernetes 1.36 pkg/scheduler/framework/plugins/volumezone.
struct ZoneLabel {
  std::string_view of_volume, of_node;
};
constexpr std::array<ZoneLabel, 4> kZoneLabels = {
    {{"failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"},
     {"topology.kubernetes.io/zone", "topology.kubernetes.io/zone"},
     {"topology.kubernetes.io/region", "topology.kubernetes.io/region"}}};

// "a__b" as {"a", "b"}; nothing if a part is empty, in which case the label does not count.
std::vector<std::string> PartsOf(std::string_view value) {
  constexpr std::string_view kBetween = "__";
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = value.find(kBetween);
    const std::string_view part = value.substr(0, end);
    if (part.empty()) return {};
    parts.emplace_back(part);
    if (end == value.npos) return parts;
    value.remove_prefix(end + kBetween.size());
  }
}

std::string ListText(const std::vector<std::string>& values) {
  constexpr std::size_t kNamed = 3;
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < kNamed; ++i) {
    text += (i > 0 ? ", " : "") + values[i];
  }
  return values.size() > kNamed ? text + ", ..." : text;
}

std::string Claim(const VolumeClaim& claim) { return "its claim " + claim.meta.key.name; }

// Nodes without any of the labels pass.
std::optional<std::vector<NodeSelectorTerm>> ByZoneLabel(const PersistentVolume& volume,
                                                         const ZoneLabel& label) {
  const auto value = volume.meta.labels.At(label.of_volume);
  std::vector<std::string> zones = value ? PartsOf(*value) : std::vector<std::string>();
  if (zones.empty()) return std::nullopt;
  NodeSelectorTerm without;
  for (const ZoneLabel& one : kZoneLabels) {
    without.match_expressions.push_back({std::string(one.of_volume), "DoesNotExist", {}});
  }
  std::vector<NodeSelectorTerm> terms;
  terms.push_back({{{std::string(label.of_volume), "In", zones}}, {}});
  if (label.of_node != label.of_volume) {
    terms.push_back({{{std::string(label.of_volume), "DoesNotExist", {}},
                      {std::string(label.of_node), "In", zones}},
                     {}});
  }
  terms.push_back(std::move(without));
  return terms;
}

bool HasMode(const std::vector<std::string>& modes, std::string_view mode) {
  return std::find(modes.begin(), modes.end(), mode) != modes.end();
}

bool IsFor(const PersistentVolume& volume, const VolumeClaim& claim) {
  return volume.claim == claim.meta.key &&
         (volume.claim_uid.empty() || volume.claim_uid == claim.meta.uid);
}

// Whether the claim can take the volume, wherever it is.
// Source  Kubernetes 1.36 k8s.io/component-helpers/storage/volume, FindMatchingVolume.
bool Suits(const PersistentVolume& volume, const VolumeClaim& claim) {
  if (!volume.claim.name.empty() && !IsFor(volume, claim)) return false;
  if (volume.storage_class != claim.storage_class || volume.bytes < claim.bytes) return false;
  if (volume.block != claim.block || volume.attributes_class != claim.attributes_class) {
    return false;
  }
  if (volume.meta.deleting) return false;
  if (IsFor(volume, claim)) return true;
  return volume.available &&
         (!claim.selector || fabric::Matches(*claim.selector, volume.meta.labels)) &&
         std::all_of(claim.access_modes.begin(), claim.access_modes.end(),
                     [&](const auto& mode) { return HasMode(volume.access_modes, mode); });
}

template <typename T>
std::vector<const T*> SortedByKey(const SharedList<T>& list) {
  std::vector<const T*> sorted;
  sorted.reserve(list.size());
  for (const T& one : list) sorted.push_back(&one);
  const auto before = [](const T* a, const T* b) { return a->meta.key < b->meta.key; };
  if (!std::is_sorted(sorted.begin(), sorted.end(), before)) {
    std::sort(sorted.begin(), sorted.end(), before);
  }
  return sorted;
}

template <typename T>
const T* FindIn(const std::vector<const T*>& sorted, const api::ObjectKey& key) {
  const auto found = std::lower_bound(
      sorted.begin(), sorted.end(), key,
      [](const T* one, const api::ObjectKey& wanted) { return one->meta.key < wanted; });
  return found != sorted.end() && (*found)->meta.key == key ? *found : nullptr;
}

// The claim that an ephemeral volume will have.
VolumeClaim ClaimOf(const fabric::ClaimedVolume& volume) {
  VolumeClaim claim;
  claim.meta.key.name = volume.claim;
  claim.storage_class = volume.storage_class;
  claim.access_modes = volume.access_modes;
  claim.bytes = volume.bytes;
  claim.block = volume.block;
  return claim;
}

// The rules of one pod's own claims that the other pods of its gang have too.
void KeepCommon(const VolumeRules& other, VolumeRules& rules) {
  if (rules.blocked.empty()) rules.blocked = other.blocked;
  std::erase_if(rules.places, [&](const VolumeRules::Place& place) {
    return std::none_of(other.places.begin(), other.places.end(),
                        [&](const auto& one) { return one.terms == place.terms; });
  });
  rules.soles.insert(rules.soles.end(), other.soles.begin(), other.soles.end());
  // The worker's own volume on its own claim: only where each worker needs a like one.
  std::erase_if(rules.unbound, [&](const VolumeRules::Unbound& one) {
    return std::none_of(other.unbound.begin(), other.unbound.end(), [&](const auto& has) {
      return has.volumes == one.volumes && has.makes == one.makes && has.made_in == one.made_in;
    });
  });
  for (VolumeRules::Attached& one : rules.attached) {
    const auto has = std::find_if(other.attached.begin(), other.attached.end(),
                                  [&](const auto& same) { return same.driver == one.driver; });
    one.own = has == other.attached.end() ? 0 : std::min(one.own, has->own);
    std::erase_if(one.shared, [&](const std::string& handle) {
      return has == other.attached.end() ||
             std::find(has->shared.begin(), has->shared.end(), handle) == has->shared.end();
    });
  }
  std::erase_if(rules.attached, [](const auto& one) { return one.own == 0 && one.shared.empty(); });
}

void Append(VolumeRules&& more, VolumeRules& rules) {
  const auto move = [](auto& from, auto& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
  };
  if (rules.blocked.empty()) rules.blocked = std::move(more.blocked);
  move(more.places, rules.places);
  move(more.soles, rules.soles);
  move(more.unbound, rules.unbound);
  for (VolumeRules::Attached& one : more.attached) {
    const auto same = std::find_if(rules.attached.begin(), rules.attached.end(),
                                   [&](const auto& has) { return has.driver == one.driver; });
    if (same == rules.attached.end()) {
      rules.attached.push_back(std::move(one));
      continue;
    }
    move(one.shared, same->shared);
    same->own += one.own;
  }
}

bool NamesClaim(const fabric::PodTerms& pod, const std::string& claim) {
  return std::any_of(pod.volumes.begin(), pod.volumes.end(),
                     [&](const auto& one) { return !one.own && one.claim == claim; });
}

// The claims that every pod names.
std::set<std::string_view> ClaimsOfAll(std::span<const fabric::PodTerms* const> pods) {
  std::set<std::string_view> claims;
  if (pods.front() == nullptr) return claims;
  for (const fabric::ClaimedVolume& volume : pods.front()->volumes) {
    const bool all = std::all_of(pods.begin(), pods.end(), [&](const fabric::PodTerms* one) {
      return one != nullptr && NamesClaim(*one, volume.claim);
    });
    if (!volume.own && all) claims.insert(volume.claim);
  }
  return claims;
}

}  // namespace

std::string PlaceText(const std::vector<NodeSelectorTerm>& terms) {
  if (terms.size() != 1 || terms.front().match_expressions.size() != 1) {
    return "that only some nodes reach";
  }
  const fabric::SelectorExpression& only = terms.front().match_expressions.front();
  const std::string values = ListText(only.values);
  if (only.op == "In" && only.key.ends_with("/zone")) return "in zone " + values;
  if (only.op == "In" && only.key.ends_with("/region")) return "in region " + values;
  if (only.op == "In" && only.key == fabric::kHostNameLabel) return "on node " + values;
  return "on nodes with " + only.key + " " + only.op +
         (only.values.empty() ? "" : " (" + values + ")");
}

void Volumes::Index() {
  if (std::exchange(indexed_, true)) return;
  claims_ = SortedByKey(inputs_.volume_claims);
  volumes_ = SortedByKey(inputs_.volumes);
  for (const PersistentVolume* volume : volumes_) {
    const VolumeClaim* claim = FindClaim(volume->claim.space, volume->claim.name);
    if (claim == nullptr || !claim->bound) free_.push_back(volume);
  }
  for (const api::CsiNode& node : inputs_.csi_nodes) {
    for (const auto& [driver, limit] : node.limits) {
      if (!limited_.contains(driver)) limited_.insert(driver);
    }
  }
}

const VolumeClaim* Volumes::FindClaim(const std::string& space, const std::string& name) const {
  return FindIn(claims_, {space, name});
}

const PersistentVolume* Volumes::FindVolume(const std::string& name) const {
  return FindIn(volumes_, {"", name});
}

const StorageClass* Volumes::FindClass(const std::string& name) const {
  const auto& classes = inputs_.storage_classes;
  const auto found = std::find_if(classes.begin(), classes.end(),
                                  [&](const auto& one) { return one.meta.key.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

void Volumes::Resolve(const std::string& space, std::span<const fabric::PodTerms* const> pods,
                      rules::PodRequirements& pod) {
  const bool any = std::any_of(pods.begin(), pods.end(), [](const fabric::PodTerms* one) {
    return one != nullptr && !one->volumes.empty();
  });
  if (!any) return;
  Index();
  const std::set<std::string_view> of_all = ClaimsOfAll(pods);
  VolumeRules shared, own;
  for (std::size_t p = 0; p < pods.size(); ++p) {
    VolumeRules of_pod;
    const std::vector<fabric::ClaimedVolume> none;
    for (const auto& volume : pods[p] == nullptr ? none : pods[p]->volumes) {
      const bool by_all = !volume.own && of_all.contains(volume.claim);
      if (by_all && p > 0) continue;
      const Use use{&volume, FindClaim(space, volume.claim), by_all};
      Judge(space, use, by_all ? shared : of_pod);
    }
    if (p == 0) {
      own = std::move(of_pod);
    } else {
      KeepCommon(of_pod, own);
    }
  }
  Append(std::move(own), shared);
  std::stable_sort(shared.places.begin(), shared.places.end(),
                   [](const auto& a, const auto& b) { return a.text < b.text; });
  VolumeRules all = *pod.volumes;
  Append(std::move(shared), all);
  pod.volumes = std::move(all);
  fabric::PodTerms terms = *pod.terms;
  terms.volumes.clear();
  pod.terms = std::move(terms);
}

void Volumes::Judge(const std::string& space, const Use& use, VolumeRules& rules) {
  if (use.claim == nullptr && !use.volume->own) {
    if (inputs_.knows_claims && rules.blocked.empty()) {
      rules.blocked = "its claim " + use.volume->claim + " does not exist";
    }
    return;
  }
  VolumeRules found;
  if (use.claim == nullptr) {
    const VolumeClaim made = ClaimOf(*use.volume);
    const Use own{use.volume, &made, false};
    JudgeUnbound(own, found);
    AddAttached(own, found);
    return Append(std::move(found), rules);
  }
  if (use.claim->meta.deleting) {
    found.blocked = Claim(*use.claim) + " is being deleted";
  } else if (use.claim->lost) {
    found.blocked = Claim(*use.claim) + " has lost its volume " + use.claim->volume;
  } else if (use.claim->bound) {
    JudgeBound(*use.claim, found);
  } else {
    JudgeUnbound(use, found);
  }
  AddSole(space, use, found);
  AddAttached(use, found);
  Append(std::move(found), rules);
}

void Volumes::JudgeBound(const VolumeClaim& claim, VolumeRules& rules) const {
  const PersistentVolume* volume = FindVolume(claim.volume);
  const std::string bound = Claim(claim) + " is bound to volume " + claim.volume;
  if (volume == nullptr) {
    if (inputs_.knows_volumes) rules.blocked = bound + ", which does not exist";
    return;
  }
  if (volume->affinity) {
    rules.places.push_back({*volume->affinity, bound + " " + PlaceText(*volume->affinity)});
  }
  for (const ZoneLabel& label : kZoneLabels) {
    auto terms = ByZoneLabel(*volume, label);
    if (!terms) continue;
    const std::string where = PlaceText({terms->front()});
    rules.places.push_back({*std::move(terms), bound + " " + where});
  }
}

// The class decides when a claim gets its volume. Without one, or with Immediate, the API server's
// controllers bind it, whoever uses it.
void Volumes::JudgeUnbound(const Use& use, VolumeRules& rules) {
  const VolumeClaim& claim = *use.claim;
  const StorageClass* of = FindClass(claim.storage_class);
  const bool unknown = !claim.storage_class.empty() && of == nullptr && !inputs_.knows_classes;
  if (unknown && claim.volume.empty()) return;
  if (of == nullptr || !of->waits || !claim.volume.empty()) {
    if (claim.served) rules.blocked = Claim(claim) + " is not bound to a volume yet";
    return;
  }
  VolumeRules::Unbound unbound;
  unbound.claim = claim.meta.key.name;
  unbound.shared = use.shared;
  unbound.makes = !of->provisioner.empty() && of->provisioner != api::kNoProvisioner;
  if (!of->topologies.empty()) unbound.made_in = of->topologies;
  if (!claim.selected_node.empty()) {
    NodeSelectorTerm node{{}, {{"metadata.name", "In", {claim.selected_node}}}};
    rules.places.push_back(
        {{std::move(node)}, Claim(claim) + " gets a volume on node " + claim.selected_node});
  } else {
    unbound.volumes = FreeFor(claim);
  }
  if (!unbound.volumes.empty()) {
    rules.unbound.push_back(std::move(unbound));
  } else if (!unbound.makes) {
    rules.blocked = Claim(claim) + " finds no free volume of class " + claim.storage_class;
  } else if (unbound.made_in) {
    rules.places.push_back({*unbound.made_in, Claim(claim) + " gets a volume of class " +
                                                  claim.storage_class + " " +
                                                  PlaceText(*unbound.made_in)});
  }
}

// Smallest first, as kube-scheduler takes them. A volume that names the claim comes alone.
std::vector<rules::FreeVolume> Volumes::FreeFor(const VolumeClaim& claim) const {
  std::vector<const PersistentVolume*> free;
  for (const PersistentVolume* volume : free_) {
    if (!Suits(*volume, claim)) continue;
    if (IsFor(*volume, claim)) return {{volume->meta.key.name, volume->affinity}};
    free.push_back(volume);
  }
  std::stable_sort(free.begin(), free.end(),
                   [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
  std::vector<rules::FreeVolume> volumes;
  for (const PersistentVolume* one : free) volumes.push_back({one->meta.key.name, one->affinity});
  return volumes;
}

// Pods on nodes of a Fabric are seen where slots are counted; others are looked for here.
void Volumes::AddSole(const std::string& space, const Use& use, VolumeRules& rules) const {
  const VolumeClaim& claim = *use.claim;
  if (use.volume->own || !HasMode(claim.access_modes, kOncePod)) return;
  rules.soles.push_back({claim.meta.key.name, use.shared});
  for (const api::Pod& pod : inputs_.pods) {
    if (pod.meta.key.space != space || !pod.Holds()) continue;
    if (!NamesClaim(*pod.pod.terms, claim.meta.key.name)) continue;
    const bool seen =
        std::any_of(cluster_.fabrics.begin(), cluster_.fabrics.end(),
                    [&](const auto& on) { return on.fabric->FindNode(pod.node_name).has_value(); });
    if (seen || !rules.blocked.empty()) continue;
    rules.blocked = Claim(claim) + " allows one pod (ReadWriteOncePod), and pod " +
                    pod.meta.key.name + " uses it";
  }
}

std::string Volumes::DriverOfClaim(const VolumeClaim& claim) const {
  if (const PersistentVolume* volume = FindVolume(claim.volume)) return volume->driver;
  const StorageClass* of = FindClass(claim.storage_class);
  return of == nullptr ? "" : of->provisioner;
}

// Several claims may be of one volume of the driver.
std::string Volumes::HandleOf(const VolumeClaim& claim) const {
  const PersistentVolume* volume = FindVolume(claim.volume);
  return volume != nullptr ? volume->handle : api::Show(claim.meta.key) + " of a claim";
}

void Volumes::AddAttached(const Use& use, VolumeRules& rules) {
  const std::string driver = DriverOfClaim(*use.claim);
  if (!limited_.contains(driver)) return;
  VolumeRules::Attached attached;
  attached.driver = driver;
  attached.of = DriverOf(driver);
  if (use.shared) {
    attached.shared = {HandleOf(*use.claim)};
  } else {
    attached.own = 1;
  }
  VolumeRules one;
  one.attached.push_back(std::move(attached));
  Append(std::move(one), rules);
}

std::shared_ptr<const rules::DriverVolumes> Volumes::DriverOf(const std::string& driver) {
  auto& known = drivers_[driver];
  if (known != nullptr) return known;
  rules::DriverVolumes of;
  for (const api::CsiNode& node : inputs_.csi_nodes) {
    const auto limit = node.limits.find(driver);
    if (limit != node.limits.end()) of.limits[node.meta.key.name] = limit->second;
  }
  for (const StorageClass& one : inputs_.storage_classes) {
    if (one.provisioner == driver) of.classes.insert(one.meta.key.name);
  }
  for (const VolumeClaim* claim : claims_) {
    if (DriverOfClaim(*claim) != driver) continue;
    of.handles[{claim->meta.key.space, claim->meta.key.name}] = HandleOf(*claim);
  }
  known = std::make_shared<const rules::DriverVolumes>(std::move(of));
  return known;
}

}  // namespace weft::cluster
