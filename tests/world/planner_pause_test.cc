#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/decode.h"
#include "operator/controllers/planner.h"
#include "tests/world/fibers.h"

namespace weft::world {
namespace {

using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr UnixSeconds kStart = 1'800'000'000;

// An API server that never answers the first `silent` creates, which give up after half a minute.
class Writer final : public controllers::ApiWriter {
 public:
  Writer(Fibers& fibers, int silent) : fibers_(fibers), silent_(silent) {}
  Result<Json> Create(controllers::Kind, const Json& object, bool) override {
    if (silent_ > 0) {
      --silent_;
      fibers_.Sleep(seconds(30));
      return NoAnswer();
    }
    created.push_back(object["metadata"]["name"]);
    Json stored = object;
    stored["metadata"]["uid"] = "uid of it";
    stored["metadata"]["resourceVersion"] = "1";
    return stored;
  }
  Result<Json> Get(const controllers::Target&) override { return NoAnswer(); }
  Result<Json> Patch(const controllers::Target&, const Json&) override { return NoAnswer(); }
  Result<Json> PatchStatus(const controllers::Target&, const Json&) override {
    if (!placed_at) placed_at = fibers_.now();
    return NoAnswer();
  }
  Result<Json> PatchExactly(const controllers::Target&, const Json&) override { return NoAnswer(); }
  Status Delete(const controllers::Target&) override { return NoAnswer(); }
  Status Evict(const controllers::Target&) override { return NoAnswer(); }

  std::optional<run::Instant> placed_at;  // when nodes were written first
  std::vector<std::string> created;       // names of Placements, in order

 private:
  static Error NoAnswer() { return {ErrorKind::kTransient, "no answer"}; }
  Fibers& fibers_;
  int silent_ = 0;
};

api::TrainingJob JobOf(const std::string& name, std::uint32_t workers) {
  Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"namespace": "ns", "generation": 1},
      "spec": {"framework": {"type": "Torch"}, "accelerator": {"perWorker": 8},
               "workers": {"template": {"spec": {"containers": [
                   {"name": "t", "image": "i",
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
  job["metadata"]["name"] = name;
  job["metadata"]["uid"] = "uid of " + name;
  job["metadata"]["creationTimestamp"] = FormatTime(kStart);
  job["spec"]["workers"]["replicas"] = workers;
  return *api::DecodeTrainingJob(job, "test");
}

api::Node NodeOf(const std::string& name) {
  api::Node node;
  node.meta.key.name = node.meta.uid = node.facts.name = name;
  node.facts.allocatable = {{"nvidia.com/gpu", 8}, {"pods", 110}};
  node.facts.conditions = {{"Ready", "True"}};
  return node;
}

// Uses all GPUs of a node.
api::Pod PodOn(const std::string& node) {
  Json pod = Json::parse(R"({
      "apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "other"},
      "spec": {"containers": [
          {"name": "c", "resources": {"requests": {"nvidia.com/gpu": "8"}}}]},
      "status": {"phase": "Running"}})");
  pod["metadata"]["name"] = pod["metadata"]["uid"] = "pod-on-" + node;
  pod["spec"]["nodeName"] = node;
  return *api::DecodePod(pod, "test");
}

// A planner in virtual time.
struct Planning {
  explicit Planning(int silent = 0) : api(fibers, silent) {
    options.now = [this] { return machine.Seconds(); };
    options.on_answer = [](const api::ObjectKey&) {};
    options.executor = &machine;
    planner = std::make_unique<controllers::Planner>(store, cache, api, log, options);
  }
  void Add(const api::TrainingJob& job) {
    store.Put(job);
    planner->Enqueue(job);
  }
  void RunUntil(run::Instant end) {
    const auto thread = machine.Start([&] { planner->Run(); });
    fibers.RunUntil(end);
    planner->Stop();
    fibers.RunUntil(end + seconds(5));
    thread->Join();
  }

  Fibers fibers{1};
  Machine machine{fibers, kStart * 1'000'000, 0};
  watch::Store store{[this] { return machine.Seconds(); }};
  watch::FabricCache cache;
  Writer api;
  controllers::Log log{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  controllers::Planner::Options options;
  std::unique_ptr<controllers::Planner> planner;
};

// Only planning keeps the thread busy: after a write without an answer the next pass begins at
// once.
TEST(PlannerPause, DoesNotGrowWithAWriteThatHasNoAnswer) {
  Planning planning(1);
  planning.store.Put(NodeOf("n"));
  planning.Add(JobOf("a", 1));
  planning.RunUntil(run::Instant(seconds(35)));
  EXPECT_TRUE(planning.api.placed_at);
}

// The gang comes first, but only one node is free when the first pod has gone.
TEST(PlannerPause, WaitsForTheOtherPodsOfAGangThatEnds) {
  Planning planning;
  for (const char* node : {"n1", "n2"}) {
    planning.store.Put(NodeOf(node));
    planning.store.Put(PodOn(node));
  }
  planning.Add(JobOf("a-gang", 2));
  planning.Add(JobOf("b-small", 1));
  const auto ends = [&planning](const char* node) {
    api::Deletion deletion{{"other", std::string("pod-on-") + node}};
    planning.store.Remove<api::Pod>(deletion);
    planning.planner->OnCapacity();
  };
  planning.fibers.At(run::Instant(seconds(20)), [&] { ends("n1"); });
  planning.fibers.At(run::Instant(milliseconds(20'050)), [&] { ends("n2"); });
  planning.RunUntil(run::Instant(seconds(25)));
  ASSERT_FALSE(planning.api.created.empty());
  EXPECT_TRUE(planning.api.created.front().starts_with("a-gang")) << planning.api.created.front();
}

}  // namespace
}  // namespace weft::world
