#include "tests/world/users.h"

#include <algorithm>
#include <utility>

#include "operator/api/checkpoint.h"
#include "tests/world/by_number.h"

namespace weft::world {
namespace {

enum class Fate : std::uint8_t {
  kRuns,
  kFails,
  kDeleted,
  kSuspended,
  kEdited,     // to what cannot be read, and back
  kMadeAgain,  // deleted, and made again under its name
  kForEver,    // runs until it is deleted
  kTooLarge,   // fits never
  kGone,       // leaves by itself (ttlSecondsAfterFinished)
};
constexpr Fate kFates[] = {Fate::kRuns,      Fate::kRuns,   Fate::kRuns,      Fate::kRuns,
                           Fate::kRuns,      Fate::kRuns,   Fate::kFails,     Fate::kDeleted,
                           Fate::kSuspended, Fate::kEdited, Fate::kMadeAgain, Fate::kForEver,
                           Fate::kTooLarge,  Fate::kGone};

}  // namespace

Users::Users(Fibers& fibers, ApiServer& server, Options options, std::uint64_t seed)
    : fibers_(fibers),
      api_(server, "researcher"),
      options_(std::move(options)),
      seed_(seed),
      chance_(seed),
      saving_(seed + 1),
      saves_(saving_.Below(4) == 0) {}

Json Users::JobOf(const std::string& space, const std::string& name) {
  const std::uint64_t gpus = chance_.Below(6) == 0 ? (1ULL << chance_.Below(3)) : 8;
  const Json trainer = {{"name", "trainer"},
                        {"image", "registry.example/train:1"},
                        {"command", {"torchrun", "train.py"}},
                        {"env", {{{"name", "PASSWORD"}, {"value", options_.canary}}}},
                        {"resources", {{"limits", {{"nvidia.com/gpu", gpus}}}}}};
  // Half of the jobs are small.
  std::uint64_t replicas = 1 + chance_.Below(chance_.Below(2) == 0 ? 3 : options_.most_replicas);
  Json spec = {{"framework", {{"type", "Torch"}}},
               {"accelerator", {{"resourceName", "nvidia.com/gpu"}, {"perWorker", gpus}}},
               {"failurePolicy", {{"maxRestarts", chance_.Below(4)}}},
               {"workers",
                {{"replicas", replicas},
                 {"template",
                  {{"metadata",
                    {{"annotations",
                      {{"weft.test/run-seconds",
                        std::to_string(10 + chance_.Below(options_.most_run_seconds))},
                       {"weft.test/stop-seconds", std::to_string(chance_.Below(20))},
                       {"weft.test/stop-code", chance_.Below(4) == 0 ? "0" : "143"}}}}},
                   {"spec",
                    {{"terminationGracePeriodSeconds", 1 + chance_.Below(30)},
                     {"containers", {trainer}}}}}}}}};
  // The workers of some jobs end one after the other.
  if (chance_.Below(3) == 0) {
    spec["workers"]["template"]["metadata"]["annotations"]["weft.test/worker-seconds"] =
        std::to_string(1 + chance_.Below(900 / replicas));
  }
  if (chance_.Below(4) == 0) spec["topology"] = {{"preferred", "leaf"}};
  if (chance_.Below(6) == 0 && replicas <= 8) spec["topology"] = {{"required", "leaf"}};
  return {{"apiVersion", "weft.dev/v1alpha1"},
          {"kind", "TrainingJob"},
          {"metadata", {{"name", name}, {"namespace", space}}},
          {"spec", std::move(spec)}};
}

void Users::Later(std::uint64_t most_seconds, std::function<void(const api::ObjectKey&)> act,
                  const api::ObjectKey& job) {
  fibers_.After(std::chrono::milliseconds(chance_.Below(most_seconds * 1'000)),
                [act = std::move(act), job] { act(job); });
}

void Users::Suspend(const api::ObjectKey& job, bool suspend) {
  api_.Patch(kube::kTrainingJobs, job, {{"spec", {{"suspend", suspend}}}});
}

bool Users::Deletes(const api::ObjectKey& job) const {
  return std::any_of(expected_.begin(), expected_.end(),
                     [&](const Expected& one) { return one.job == job && one.end.empty(); });
}

void Users::Delete(const api::ObjectKey& job, const char* propagation) {
  api_.Delete(kube::kTrainingJobs, job, {.propagation = propagation});
}

void Users::AddCheckpoints(const api::ObjectKey& key, Json& job) {
  if (!saves_ || saving_.Below(2) == 0) return;
  const std::uint64_t interval = 20 + saving_.Below(200);
  job["spec"]["checkpoint"] = {{"intervalSeconds", interval}};
  const bool on_pod = saving_.Below(2) == 0;
  constexpr int kCheckpoints = 20;
  for (int step = 1; step <= kCheckpoints; ++step) {
    fibers_.After(std::chrono::seconds(interval) * step,
                  [this, key, on_pod, step] { TellCheckpoint(key, on_pod, step); });
  }
}

// In the annotations of the job, or of its worker 0's pod.
void Users::TellCheckpoint(const api::ObjectKey& key, bool on_pod, int step) {
  const auto job = api_.Find(kube::kTrainingJobs, key);
  if (job == nullptr || !IsTrue(*job, "PodsReady")) return;
  const std::string now = FormatTime(options_.now_seconds());
  Json told = {{api::kLastCheckpointTime, now}, {api::kLastCheckpointStep, std::to_string(step)}};
  if (step % 4 == 0) told[api::kFirstStepTime] = now;
  const Json change = {{"metadata", {{"annotations", std::move(told)}}}};
  if (!on_pod) {
    api_.Patch(kube::kTrainingJobs, key, change);
    return;
  }
  const std::int64_t last = NumberAt(*job, {"spec", "workers", "replicas"}) - 1;
  const std::string worker0(std::to_string(last).size(), '0');
  const std::string attempt = std::to_string(NumberAt(*job, {"status", "attempt"}));
  api_.Patch(kube::kPods, {key.space, key.name + "-" + attempt + "-" + worker0}, change);
}

void Users::Submit(std::size_t number) {
  chance_ = SplitMix64(ByNumber(seed_, number));
  saving_ = SplitMix64(ByNumber(seed_ + 1, number));
  const Fate fate = kFates[chance_.Below(std::size(kFates))];
  const api::ObjectKey key{options_.spaces[chance_.Below(options_.spaces.size())],
                           "job-" + std::to_string(number)};
  Json job = JobOf(key.space, key.name);
  Json& pod = job["spec"]["workers"]["template"];
  Json& annotations = pod["metadata"]["annotations"];
  std::string end = "Complete";
  const char* propagation = std::array{"Background", "Foreground", "Background"}[chance_.Below(3)];
  const auto remove = [this, propagation](const api::ObjectKey& it) { Delete(it, propagation); };
  if (fate == Fate::kFails) {
    annotations["weft.test/exit-code"] = "1";
    annotations["weft.test/run-seconds"] = std::to_string(5 + chance_.Below(60));
    end = "Failed";
  }
  if (fate == Fate::kForEver) annotations.erase("weft.test/run-seconds");
  if (fate == Fate::kTooLarge) job["spec"]["workers"]["replicas"] = 1'000;
  if (fate == Fate::kGone) job["spec"]["ttlSecondsAfterFinished"] = 30;
  if (fate == Fate::kEdited) job["spec"]["suspend"] = true;
  if (options_.whole > 0 && fate == Fate::kRuns && chance_.Below(4) == 0) {
    job["spec"].erase("topology");
    job["spec"]["accelerator"]["perWorker"] = 8;
    pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = 8;
    job["spec"]["workers"]["replicas"] = options_.whole;
    annotations["weft.test/run-seconds"] = std::to_string(10 + chance_.Below(300));
    annotations.erase("weft.test/worker-seconds");
  }
  AddCheckpoints(key, job);
  options_.dress(job, number);
  api_.Create(kube::kTrainingJobs, job);
  if (fate == Fate::kDeleted || fate == Fate::kForEver || fate == Fate::kTooLarge) {
    Later(2'400, remove, key);
  }
  if (fate == Fate::kDeleted || fate == Fate::kForEver || fate == Fate::kTooLarge ||
      fate == Fate::kGone) {
    end = "";
  }
  if (fate == Fate::kSuspended) {
    for (int i = 0; i < 2; ++i) {
      Later(
          600, [this](const auto& it) { Suspend(it, true); }, key);
    }
    fibers_.After(std::chrono::seconds(601 + chance_.Below(300)),
                  [this, key] { Suspend(key, false); });
  }
  if (fate == Fate::kEdited) {
    const Json gpus = job["spec"]["accelerator"]["perWorker"];
    const auto edit = [this](const api::ObjectKey& it, const Json& value) {
      api_.Patch(kube::kTrainingJobs, it, {{"spec", {{"accelerator", {{"perWorker", value}}}}}});
    };
    Later(
        60, [edit](const auto& it) { edit(it, kBadPerWorker); }, key);
    fibers_.After(std::chrono::seconds(61 + chance_.Below(60)), [this, edit, key, gpus] {
      edit(key, gpus);
      Suspend(key, false);
    });
  }
  if (fate == Fate::kMadeAgain) {
    const auto at = std::chrono::seconds(chance_.Below(300));
    fibers_.After(at, [remove, key] { remove(key); });
    for (int i = 1; i < 40; ++i) {  // as soon as its name is free
      fibers_.After(at + std::chrono::seconds(i * 3),
                    [this, job] { api_.Create(kube::kTrainingJobs, job); });
    }
  }
  expected_.push_back({key, end});
}

void Users::SubmitLarge(std::size_t workers) {
  chance_ = SplitMix64(seed_);
  const api::ObjectKey key{options_.spaces.front(), "large"};
  Json job = JobOf(key.space, key.name);
  Json& spec = job["spec"];
  constexpr int kGpus = 2;
  spec.erase("topology");
  spec["accelerator"]["perWorker"] = kGpus;
  spec["workers"]["replicas"] = workers;
  Json& pod = spec["workers"]["template"];
  pod["metadata"]["annotations"]["weft.test/run-seconds"] = "600";
  pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = kGpus;
  api_.Create(kube::kTrainingJobs, job);
  expected_.push_back({key, "Complete"});
}

}  // namespace weft::world
