// PodGroups in the world: which servers know them, and what changes that or meddles with them.

#include <algorithm>
#include <array>

#include "operator/base/short_hash.h"
#include "operator/base/timestamp.h"
#include "tests/world/by_number.h"
#include "tests/world/faults.h"
#include "tests/world/pod_groups.h"
#include "tests/world/world.h"

namespace weft::world {
namespace {

using GroupGate = ApiServer::GroupGate;

bool IsLasting(const Json& object) { return !IsDeleting(object); }

// As launch::PodGroupName: whoever reads the Placement knows the name before the operator makes it.
std::string GroupNameOf(const Json& placement) {
  return KeyOf(placement).name + "-weft-" + ShortHash(UidOf(placement)).substr(0, 4);
}

// Whether the change gives nodes to the Placement of a job.
bool IsChoice(const Change& change) {
  return change.resource == "placements.weft.dev" && change.type == Change::Type::kModified &&
         !JobOf(*change.object).empty() && NodesOf(*change.before).empty() &&
         !NodesOf(*change.object).empty();
}

bool IsUrgent(const Json& job) {
  return !TextAt(job, {"spec", "workers", "template", "spec", "priorityClassName"}).empty();
}

Json TakerOf(const std::string& name, std::uint64_t run_seconds, std::uint64_t stop_seconds) {
  const Json container = {{"name", "one"},
                          {"image", "registry.example/serve:1"},
                          {"resources", {{"limits", {{"nvidia.com/gpu", "8"}}}}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata",
           {{"name", name},
            {"namespace", "other"},
            {"annotations",
             {{"weft.test/run-seconds", std::to_string(run_seconds)},
              {"weft.test/stop-seconds", std::to_string(stop_seconds)}}}}},
          {"spec", {{"terminationGracePeriodSeconds", 300}, {"containers", {container}}}}};
}

}  // namespace

void World::MakeGates() {
  scheduler_.SetGroups({.gate = false,
                        .time = [this] { return FormatTime(NowSeconds()); },
                        .bind_fails =
                            [this] {
                              const unsigned chance = std::max(weather_.busy, weather_.lost);
                              return weather_.down || group_chance_.Below(1'000) < chance;
                            },
                        .on_failed = [this](const Json& pod) { laws_.OnFailedBind(pod); }});
  SetGates(gates_);
}

void World::SetGates(const Gates& gates) {
  gates_ = gates;
  server_.SetGroupGate(gates.server);
  scheduler_.SetGate(gates.served && gates.scheduler);
  protection_.SetGate(gates.controllers);
  laws_.OnGates(gates.AllOn());
}

// Some jobs may take nodes from others.
void World::DressGroups(Json& job, std::size_t number) {
  if (!gates_.served || kueue_) return;
  if (SplitMix64(ByNumber(options_.seed + 1, number)).Below(4) != 0) return;
  job["spec"]["workers"]["template"]["spec"]["priorityClassName"] = "urgent";
}

// One server is upgraded or goes back. Where there are several API servers, both versions answer
// for a while.
std::string Faults::ChangeGate() {
  Gates gates = world_.gates_;
  const std::uint64_t which = Below(3);
  if (which == 0) {
    const bool was_on = gates.server == GroupGate::kOn;
    gates.server = GroupGate::kMixed;
    const bool comes_on = was_on ? Below(2) == 0 : Below(4) != 0;
    world_.fibers_.After(Some(10, 600), [this, comes_on] {
      Gates later = world_.gates_;
      later.server = comes_on ? GroupGate::kOn : GroupGate::kOff;
      world_.SetGates(later);
      world_.Say("FAULT " + Show(later));
    });
  } else if (which == 1) {
    gates.scheduler = !gates.scheduler;
  } else {
    gates.controllers = !gates.controllers;
  }
  world_.SetGates(gates);
  return Show(gates);
}

std::string Faults::DeleteGroup() {
  const auto group = Any(kube::kPodGroups, IsLasting);
  if (!group) return "";
  editor_.Delete(kube::kPodGroups, KeyOf(*group));
  return api::Show(KeyOf(*group));
}

std::string Faults::EditMinCount() {
  const auto group = Any(kube::kPodGroups, IsLasting);
  if (!group) return "";
  const std::int64_t count = Below(2) == 0 ? 1 : MinCountOf(*group) + 1;
  editor_.Patch(kube::kPodGroups, KeyOf(*group),
                {{"spec", {{"schedulingPolicy", {{"gang", {{"minCount", count}}}}}}}});
  return api::Show(KeyOf(*group)) + " to " + std::to_string(count);
}

// Under the name that an attempt's PodGroup is to have.
std::string Faults::ForeignGroup() {
  const Instant until = world_.fibers_.now() + seconds(900);
  world_.on_change_ = [this, until, gang = Below(2) == 0,
                       stays = Some(60, 900)](const Change& change) {
    if (world_.fibers_.now() > until) return true;
    if (!IsChoice(change)) return false;
    const api::ObjectKey key{change.key.space, GroupNameOf(*change.object)};
    Json policy = {{"basic", Json::object()}};
    if (gang) policy = {{"gang", {{"minCount", 1}}}};
    const Json group = {{"apiVersion", "scheduling.k8s.io/v1beta1"},
                        {"kind", "PodGroup"},
                        {"metadata", {{"name", key.name}, {"namespace", key.space}}},
                        {"spec", {{"schedulingPolicy", policy}}}};
    world_.fibers_.After(Millis(1), [this, group] { editor_.Create(kube::kPodGroups, group); });
    world_.fibers_.After(stays, [this, key] { editor_.Delete(kube::kPodGroups, key); });
    world_.Say("FAULT makes PodGroup " + api::Show(key));
    return true;
  };
  return "of the next attempt";
}

// A pod of others comes to a node of a gang between its plan and its pods, and takes its time to
// leave. Half of them meet a job that may make it leave.
std::string Faults::TakeNode() {
  const Instant until = world_.fibers_.now() + seconds(900);
  const std::string name = "taker-" + std::to_string(number_);
  const std::uint64_t stops = 1 + Below(300), runs = 30 + Below(600);  // drawn in this order
  Json pod = TakerOf(name, runs, stops);
  world_.on_change_ = [this, until, pod, urgent = Below(2) == 0,
                       which = Below(1'000)](const Change& change) mutable {
    if (world_.fibers_.now() > until) return true;
    if (!IsChoice(change)) return false;
    const auto& jobs = world_.laws_.cluster().jobs;
    const auto job = jobs.find(JobOf(*change.object));
    if (urgent && (job == jobs.end() || !IsUrgent(*job->second))) return false;
    const std::vector<std::string> nodes = NodesOf(*change.object);
    const std::string node = nodes[which % nodes.size()];
    pod["spec"]["nodeSelector"] = {{"kubernetes.io/hostname", node}};
    world_.fibers_.After(Millis(1), [this, pod] { admin_.Create(kube::kPods, pod); });
    world_.Say("FAULT " + KeyOf(pod).name + " wants " + node);
    return true;
  };
  return name;
}

}  // namespace weft::world
