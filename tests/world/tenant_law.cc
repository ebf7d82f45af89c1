// The law of neighbours: nothing that somebody may write in one namespace changes a job, a figure
// or a decision of another.

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <sstream>
#include <utility>

#include "operator/api/decode.h"
#include "operator/cluster/running.h"
#include "operator/controllers/fleet_collector.h"
#include "operator/kube/requests.h"
#include "operator/plan/plan.h"
#include "operator/plan/status.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/object_facts.h"
#include "operator/watch/store.h"
#include "tests/world/pod_groups.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

using Lines = std::set<std::string>;

constexpr std::chrono::seconds kBetweenWrites{600};
constexpr int kTries = 6;  // not all that is tried may be written
constexpr std::int64_t kReserveSeconds = 600;

// `edit` has no right to write Workloads of Kueue.
constexpr std::array<const kube::Resource*, 6> kWritten = {&kube::kTrainingJobs, &kube::kPlacements,
                                                           &kube::kPods,         &kube::kServices,
                                                           &kube::kConfigMaps,   &kube::kPodGroups};
// All keys of ours that Weft reads somewhere.
constexpr std::array kAnnotations = {"weft.dev/asked",
                                     "weft.dev/avoided-nodes",
                                     "weft.dev/claimed",
                                     "weft.dev/excluded-nodes",
                                     "weft.dev/framework-release",
                                     "weft.dev/made-for",
                                     "weft.dev/measured-step-seconds",
                                     "weft.dev/model",
                                     "weft.dev/node-created",
                                     "weft.dev/parallelism",
                                     "weft.dev/placement-uid",
                                     "weft.dev/pod-requests",
                                     "weft.dev/previous-nodes",
                                     "weft.dev/priority",
                                     "weft.dev/step-metric",
                                     "weft.dev/topology",
                                     "weft.dev/waited-seconds",
                                     "weft.dev/workers"};
constexpr std::array kLabels = {
    "weft.dev/attempt",   "weft.dev/fabric",       "weft.dev/gang",
    "weft.dev/job-name",  "weft.dev/job-uid",      "weft.dev/place",
    "weft.dev/placement", "weft.dev/worker-index", "kueue.x-k8s.io/queue-name"};
constexpr std::array kValues = {"odd",       "",          "-1",    "0", "1", "true", "1000000",
                                "node-0000", "node-0001", "a,b,c", "{", "[", ",",    "team-a"};

// Figures of a job or a gang that depend on the nodes that others leave, and on what they send.
constexpr std::array kOfCompetition = {"weft_gang_best_cross_node_bytes",
                                       "weft_gang_excess_cost_ratio",
                                       "weft_trainingjob_predicted_contention_ratio"};

// An object as it would be after a write, or a new one.
struct Instead {
  std::string resource;
  api::ObjectKey key;
  Json object;
};

Result<watch::Service> ReadService(const Json& object, const api::Place& place) {
  Result<api::ObjectMeta> meta = api::DecodeMetadata(object, place);
  if (!meta) return meta.error();
  return watch::Service{*std::move(meta)};
}

template <auto kDecode>
auto ReadServed(const Json& object, const api::Place& place) {
  return kDecode(object, place, api::Reading::kServed);
}

// The operator's store once all news has arrived.
class Seen {
 public:
  Seen(ApiServer& server, std::int64_t now)
      : server_(server), now_(now), store_([now] { return now; }) {}

  watch::Store& store() { return store_; }

  // What concerns namespaces other than `space`. `decides`: also who gets which nodes next.
  Lines Others(const std::string& space, bool decides) {
    lines_.clear();
    space_ = space;
    AddJobs();
    AddGangs();
    AddFigures();
    AddCluster(decides);
    return lines_;
  }

 private:
  bool IsOthers(const api::ObjectKey& key) const { return key.space != space_; }

  template <typename Objects>
  static std::string Names(const Objects& objects) {
    std::set<std::string> names;
    for (const auto& one : objects) names.insert(api::Show(one->meta.key));
    std::string text;
    for (const std::string& name : names) text += " " + name;
    return text;
  }

  // What each job has.
  void AddJobs() {
    for (const auto& [key, job] : server_.All(NameOf(kube::kTrainingJobs))) {
      if (!IsOthers(key)) continue;
      const auto objects = store_.ObjectsOf(key);
      if (!objects) continue;
      lines_.insert(api::Show(key) + " has pods" + Names(objects->pods) + ", Placements" +
                    Names(objects->placements) + (objects->service ? ", a Service" : "") +
                    (objects->pod_group ? ", a PodGroup" : ""));
    }
  }

  // Who the workers of other controllers' gangs are.
  void AddGangs() {
    const auto snapshot = store_.TakeSnapshot();
    std::set<api::ObjectKey> gangs;
    for (const api::Placement& placement : snapshot.inputs.placements) {
      if (!IsOthers(placement.meta.key)) continue;
      lines_.insert(api::Show(placement.meta.key) + " selects" + Names(store_.PodsOf(placement)));
    }
    for (const api::Pod& pod : snapshot.inputs.pods) {
      if (const auto gang = watch::GangOf(pod); gang && IsOthers(*gang)) gangs.insert(*gang);
    }
    for (const api::ObjectKey& gang : gangs) {
      lines_.insert("gang " + api::Show(gang) + " places" + Names(store_.PodsToPlace(gang)) +
                    ", selected by" + Names(store_.Selecting(gang)));
    }
  }

  void AddFigures() {
    controllers::FleetCollector::Options options;
    options.now = [now = now_] { return now; };
    options.seconds = [] { return 1.0; };
    options.audit = true;
    controllers::FleetCollector figures(store_, fabrics_, options);
    std::istringstream text(figures.Collect()->text);
    for (std::string line; std::getline(text, line);) {
      // Free GPUs that whole nodes cannot use depend on what everybody has.
      if (line.find("state=\"stranded\"") != line.npos) continue;
      const std::size_t at = line.find("namespace=\"");
      if (at != line.npos && line.find("namespace=\"" + space_ + "\"") == line.npos) {
        lines_.insert(line);
      }
    }
  }

  void AddCluster(bool decides) {
    auto snapshot = store_.TakeSnapshot();
    cluster::OrderAll(snapshot.inputs);
    const auto fabrics = fabrics_.Of(snapshot);
    const cluster::Cluster cluster = cluster::BuildCluster(std::move(snapshot.inputs), *fabrics);
    const auto running = cluster::RunningWorkloads(cluster);
    if (!running) lines_.insert("no figures: " + running.error().message);
    for (const auto& one : running ? *running : std::vector<cluster::Running>{}) {
      if (!IsOthers(one.workload.key())) continue;
      lines_.insert(api::Show(one.workload.key()) + " runs on " +
                    plan::NodeNamesJson(*cluster.fabrics[one.fabric].fabric, one.nodes).dump() +
                    " with priority " + std::to_string(one.workload.priority));
    }
    if (decides) AddDecisions(cluster);
  }

  void AddDecisions(const cluster::Cluster& cluster) {
    plan::PlanOptions options;
    options.order = cluster::Order::kOperator;
    options.best = false;
    options.refuse_invalid = true;
    options.reserve_after_seconds = kReserveSeconds;
    options.explained_refusals = 0;
    options.crashes.now = now_;
    const auto report = plan::Plan(cluster, options);
    if (!report) return (void)lines_.insert("no plan: " + report.error().message);
    for (const plan::PlanEntry& entry : report->entries) {
      if (!IsOthers(entry.workload.key())) continue;
      const plan::Refused* refused = entry.refused();
      lines_.insert(api::Show(entry.workload.key()) + " gets " +
                    (refused != nullptr ? refused->reason + ": " + refused->message
                                        : plan::PlacementOf(cluster, entry)["status"].dump()));
    }
  }

  ApiServer& server_;
  const std::int64_t now_;
  watch::Store store_;
  watch::FabricCache fabrics_;
  std::string space_;
  Lines lines_;
};

// Fills both stores as the operator's watches do: one with what there is, one with `instead`.
class Filling {
 public:
  Filling(ApiServer& server, const Instead& instead, watch::Store& before, watch::Store& after)
      : server_(server), instead_(instead), before_(before), after_(after) {
    Fill<api::Node>(kube::kNodes, api::DecodeNode, api::DecodeNodeHead);
    Fill<api::PriorityClass>(kube::kPriorityClasses, api::DecodePriorityClass);
    Fill<api::Namespace>(kube::kNamespaces, api::DecodeNamespace);
    Fill<api::Fabric>(kube::kFabrics, ReadServed<api::DecodeFabric>);
    Fill<api::TrainingJob>(kube::kTrainingJobs, ReadServed<api::DecodeTrainingJob>);
    Fill<api::Placement>(kube::kPlacements, ReadServed<api::DecodePlacement>);
    Fill<api::Pod>(kube::kPods, api::DecodePod, api::DecodePodHead);
    Fill<watch::Service>(kube::kServices, ReadService);
    Fill<api::PodGroup>(kube::kPodGroups, api::DecodePodGroup);
  }

 private:
  template <typename T>
  using Decode = Result<T> (*)(const Json& object, const api::Place& place);

  template <typename T>
  void Fill(const kube::Resource& resource, Decode<T> decode, Decode<T> head = nullptr) {
    const std::string name = NameOf(resource);
    for (const auto& [key, stored] : server_.All(name)) {
      const Result<T> read = Read(*stored, decode, head);
      if (!read) continue;
      before_.Put(T(*read));
      if (instead_.resource != name || instead_.key != key) after_.Put(T(*read));
    }
    if (instead_.resource != name) return;
    if (Result<T> read = Read(instead_.object, decode, head)) after_.Put(*std::move(read));
  }

  template <typename T>
  static Result<T> Read(const Json& object, Decode<T> decode, Decode<T> head) {
    Result<T> read = decode(object, "API server");
    if constexpr (requires(T one) { one.unreadable; }) {
      if (!read && head != nullptr) {
        const std::string why = read.error().message;
        read = head(object, "API server");
        if (read) read->unreadable = why;
      }
    }
    return read;
  }

  ApiServer& server_;
  const Instead& instead_;
  watch::Store &before_, &after_;
};

// The job of another namespace that has most to lose, or null.
std::shared_ptr<const Json> AnyOther(ApiServer& server, const std::string& space,
                                     SplitMix64& chance) {
  std::vector<std::shared_ptr<const Json>> fit;
  for (const auto& [key, job] : server.All(NameOf(kube::kTrainingJobs))) {
    if (key.space != space && !IsTrue(*job, "Complete") && !IsTrue(*job, "Failed")) {
      fit.push_back(job);
    }
  }
  return fit.empty() ? nullptr : fit[chance.Below(fit.size())];
}

// A change of one annotation, label or owner, as a merge patch.
Json AnyMetadata(const std::shared_ptr<const Json>& other, SplitMix64& chance) {
  const std::uint64_t kind = chance.Below(5);
  if (other && kind == 0) {
    return {{"ownerReferences",
             {{{"apiVersion", "weft.dev/v1alpha1"},
               {"kind", "TrainingJob"},
               {"controller", true},
               {"name", KeyOf(*other).name},
               {"uid", UidOf(*other)}}}}};
  }
  std::string value = kValues[chance.Below(kValues.size())];
  if (other && chance.Below(3) == 0) value = UidOf(*other);
  if (other && chance.Below(6) == 0) value = KeyOf(*other).name;
  if (kind == 1) return {{"labels", {{kLabels[chance.Below(kLabels.size())], value}}}};
  return {{"annotations", {{kAnnotations[chance.Below(kAnnotations.size())], value}}}};
}

// A change of what a job asks for, as a merge patch.
Json AnySpec(SplitMix64& chance) {
  Json spec = {{"suspend", true}};  // others may not change it
  switch (chance.Below(3)) {
    case 0:
      spec["workers"] = {{"replicas", 1 + chance.Below(100)}};
      break;
    case 1:
      spec["workers"]["template"]["spec"]["priorityClassName"] = "urgent";
      break;
    default:
      spec["topology"] = {{"required", chance.Below(2) == 0 ? "leaf" : "odd"}};
  }
  return spec;
}

// A new object like that one, as its author would write it.
Json CopyOf(const Json& object, const Json& metadata) {
  Json copy = object;
  copy.erase("status");
  Json& meta = copy["metadata"];
  for (const char* name : {"uid", "resourceVersion", "generation", "creationTimestamp",
                           "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    meta.erase(name);
  }
  meta["name"] = "odd-copy";
  meta.merge_patch(metadata);
  if (copy.contains("spec")) copy["spec"].erase("nodeName");
  return copy;
}

// What somebody may try to write.
struct Attempted {
  kube::Request request;
  std::string words;
  bool annotates = false;  // and does nothing else
  bool competes = false;   // asks for other nodes than before
};

// Into the object, or into a copy of it.
Attempted AnyWrite(const kube::Resource& resource, const Json& object,
                   const std::shared_ptr<const Json>& other, SplitMix64& chance) {
  const kube::Write trial = {.field_manager = "tenant", .dry_run = true};
  const Json metadata = AnyMetadata(other, chance);
  const std::string name = NameOf(resource) + " " + api::Show(KeyOf(object));
  const std::uint64_t kind = chance.Below(4);
  if (kind == 0) {
    return {kube::CreateRequest(resource, CopyOf(object, metadata), trial),
            "makes a copy of " + name + " with " + metadata.dump(), false, true};
  }
  const bool of_spec = kind == 1 && NameOf(resource) == NameOf(kube::kTrainingJobs);
  Json change = {{"metadata", metadata}};
  if (of_spec) change = {{"spec", AnySpec(chance)}};
  return {kube::PatchRequest(resource, KeyOf(object), {kube::PatchType::kMerge, change}, trial),
          "writes " + change.dump() + " into " + name, !of_spec && metadata.contains("annotations"),
          of_spec};
}

// A random object of the namespace, of a random kind; object null: there is none.
std::pair<const kube::Resource*, std::shared_ptr<const Json>> AnyOwn(ApiServer& server,
                                                                     const std::string& space,
                                                                     SplitMix64& chance) {
  using Objects = std::vector<std::shared_ptr<const Json>>;
  std::vector<std::pair<const kube::Resource*, Objects>> kinds;
  for (const kube::Resource* resource : kWritten) {
    Objects own;
    for (const auto& [key, object] : server.All(NameOf(*resource))) {
      if (key.space == space) own.push_back(object);
    }
    if (!own.empty()) kinds.emplace_back(resource, std::move(own));
  }
  if (kinds.empty()) return {};
  const auto& [resource, own] = kinds[chance.Below(kinds.size())];
  return {resource, own[chance.Below(own.size())]};
}

void DropCompetition(Lines& lines) {
  std::erase_if(lines, [](const std::string& line) {
    return std::any_of(kOfCompetition.begin(), kOfCompetition.end(),
                       [&](const char* name) { return line.starts_with(name); });
  });
}

std::string FirstDifference(const Lines& before, const Lines& after) {
  std::vector<std::string> gone, come;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(gone));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(come));
  if (gone.empty() && come.empty()) return "";
  return "\"" + (gone.empty() ? "" : gone.front()) + "\" -> \"" +
         (come.empty() ? "" : come.front()) + "\"";
}

}  // namespace

// Asks for one such write in a dry run, and compares what follows for the others with what is now.
void World::LookAtNeighbours() {
  if (over_) return;
  fibers_.After(kBetweenWrites, [this] { LookAtNeighbours(); });
  const std::string space = kTenantSpace;
  for (int i = 0; i < kTries; ++i) {
    const auto [resource, stored] = AnyOwn(server_, space, tenant_chance_);
    if (!stored) return;
    const auto other = AnyOther(server_, space, tenant_chance_);
    const Attempted write = AnyWrite(*resource, *stored, other, tenant_chance_);
    const kube::Response answer = server_.Handle(write.request, "tenant");
    if (answer.status / 100 != 2) continue;
    Json made = Json::parse(answer.body);
    const api::ObjectKey key = KeyOf(made);
    const Instead instead{NameOf(*resource), key, std::move(made)};
    Seen now(server_, NowSeconds()), then(server_, NowSeconds());
    Filling(server_, instead, now.store(), then.store());
    Lines before = now.Others(space, write.annotates), after = then.Others(space, write.annotates);
    if (write.competes) {
      DropCompetition(before);
      DropCompetition(after);
    }
    ++tenant_writes_;
    const std::string differs = FirstDifference(before, after);
    if (!differs.empty()) {
      laws_.Break("I28", "if somebody " + write.words + ", another namespace has " + differs);
    }
    return;
  }
}

}  // namespace weft::world
