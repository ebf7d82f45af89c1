#include "operator/cluster/choose_fabric.h"

#include <algorithm>
#include <map>

#include "operator/cluster/device_resources.h"
#include "operator/cluster/pool_choices.h"
#include "operator/cluster/text.h"
#include "operator/rules/node_filter.h"

namespace weft::cluster {
namespace {

std::string KnownFabrics(const Cluster& cluster) {
  std::string names;
  for (const ClusterFabric& on : cluster.fabrics) {
    names += (names.empty() ? "" : ", ") + on.name();
  }
  return names;
}

bool Offers(const ClusterFabric& on, const WorkloadView& workload) {
  const auto resource = on.fabric->FindResource(workload.accelerator->resource_name);
  if (!resource) return false;
  for (const fabric::NodeIndex n : Range<fabric::NodeIndex>(on.fabric->node_count())) {
    if (on.fabric->allocatable(n, *resource) > 0) return true;
  }
  return false;
}

// Whether the workload fits on the empty fabric by the hard rules of single nodes.
bool MayUse(const ClusterFabric& on, const WorkloadView& workload) {
  rules::SlotQuery query;
  query.pod = &workload.pod;
  query.job = api::Show(workload.key());
  query.cap = workload.workers;
  query.ignore_claims = true;
  fabric::ByNode<std::uint32_t> slots;
  rules::CountSlots(on.claims, query, slots);
  const auto room_of = [&](auto counts) {
    std::uint64_t sum = 0;
    for (const fabric::NodeIndex n : slots.Indices()) {
      if (counts(on.fabric->pool(n))) sum += slots[n];
    }
    return sum;
  };
  const auto choices =
      PoolChoicesOf(*on.fabric, *workload.accelerator, SlicesOf(*workload.topology));
  if (!choices) return room_of([](fabric::PoolIndex) { return true; }) >= workload.workers;
  return std::any_of(choices->begin(), choices->end(), [&](const objective::PoolChoice& choice) {
    return room_of([&](fabric::PoolIndex pool) {
             return std::binary_search(choice.pools.begin(), choice.pools.end(), pool);
           }) >= workload.workers;
  });
}

std::optional<std::string_view> NamespaceDefault(const Cluster& cluster, const std::string& space) {
  for (const api::Namespace& one : cluster.inputs->namespaces) {
    if (one.meta.key.name != space) continue;
    if (const auto name = one.meta.labels.At(api::kDefaultFabricLabel)) return name;
  }
  return std::nullopt;
}

using Choice = std::variant<std::size_t, Refusal>;

Refusal Ambiguous(const Cluster& cluster, const WorkloadView& workload,
                  const std::vector<std::size_t>& among, const std::string& why) {
  std::string names;
  for (const std::size_t f : among) {
    names += (names.empty() ? "" : ", ") + cluster.fabrics[f].name();
  }
  return {"FabricAmbiguous", "Fabrics " + names + " all offer " +
                                 workload.accelerator->resource_name + why +
                                 "; name one in spec.fabricName, or label the namespace with " +
                                 std::string(api::kDefaultFabricLabel) + "."};
}

// Of a class whose devices have no resource of their own that is counted
// (DeviceResources::OfClass): a MIG slice is a part of a GPU that counts as a whole.
std::optional<Refusal> ClassOfParts(const api::DeviceClass& one, const std::string& resource) {
  if (!resource.starts_with(api::kClassResourcePrefix) || one.type.empty()) return std::nullopt;
  if (!IsKnownDriver(one.driver)) return std::nullopt;
  return Refusal{"NoDeviceClass",
                 "accelerator.deviceClassName: DeviceClass \"" + one.meta.key.name +
                     "\" selects devices of type \"" + one.type + "\", which are parts of the " +
                     "devices of " + one.driver +
                     " that Weft counts; name a class of whole devices, or ask for the parts by " +
                     "accelerator.resourceName."};
}

// A class may come later: the job waits for it.
std::optional<Refusal> MissingClass(const Cluster& cluster, const WorkloadView& workload) {
  const std::string& wanted = workload.accelerator->device_class;
  const std::vector<api::DeviceClass>& all = cluster.inputs->device_classes;
  const auto found = std::find_if(all.begin(), all.end(), [&](const api::DeviceClass& one) {
    return one.meta.key.name == wanted;
  });
  if (wanted.empty()) return std::nullopt;
  if (found != all.end()) return ClassOfParts(*found, workload.accelerator->resource_name);
  std::vector<std::string> names;
  for (const api::DeviceClass& one : all) names.push_back(one.meta.key.name);
  std::sort(names.begin(), names.end());
  return Refusal{"NoDeviceClass",
                 "accelerator.deviceClassName: there is no DeviceClass \"" + wanted + "\"; " +
                     (names.empty() ? "the cluster has none" : "known: " + NameSome(names)) + "."};
}

}  // namespace

std::optional<std::size_t> NamedFabric(const Cluster& cluster, const WorkloadView& workload) {
  if (!workload.fabric_name->empty()) return cluster.FindFabric(*workload.fabric_name);
  const auto name = NamespaceDefault(cluster, workload.key().space);
  return name ? cluster.FindFabric(std::string(*name)) : std::nullopt;
}

Result<Choice> ChooseFabric(const Cluster& cluster, const WorkloadView& workload) {
  if (auto missing = MissingClass(cluster, workload)) return Choice(*std::move(missing));
  if (!workload.fabric_name->empty()) {
    if (const auto found = cluster.FindFabric(*workload.fabric_name)) return Choice(*found);
    return Invalid(*workload.place + ": spec.fabricName: unknown Fabric \"" +
                   *workload.fabric_name + "\"; known: " + KnownFabrics(cluster));
  }
  if (const auto name = NamespaceDefault(cluster, workload.key().space)) {
    if (const auto found = cluster.FindFabric(std::string(*name))) return Choice(*found);
    return Choice(
        Refusal{"NoFabric", "The label " + std::string(api::kDefaultFabricLabel) + "=" +
                                std::string(*name) + " of namespace " + workload.key().space +
                                " names an unknown Fabric; known: " + KnownFabrics(cluster) + "."});
  }
  if (cluster.fabrics.size() == 1) return Choice(std::size_t{0});
  std::vector<std::size_t> offering, fitting;
  for (std::size_t f = 0; f < cluster.fabrics.size(); ++f) {
    if (!Offers(cluster.fabrics[f], workload)) continue;
    offering.push_back(f);
    if (MayUse(cluster.fabrics[f], workload)) fitting.push_back(f);
  }
  if (fitting.size() == 1) return Choice(fitting.front());
  if (fitting.size() > 1) return Choice(Ambiguous(cluster, workload, fitting, " and have room"));
  if (offering.size() == 1) return Choice(offering.front());
  if (offering.size() > 1) {
    return Choice(Ambiguous(cluster, workload, offering, ", but each is too small"));
  }
  return Choice(Refusal{"NoFabric", "No node of any Fabric (" + KnownFabrics(cluster) +
                                        ") offers " + workload.accelerator->resource_name + "."});
}

}  // namespace weft::cluster
