#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "operator/api/decode.h"
#include "operator/controllers/planner.h"
#include "tests/world/fibers.h"

namespace weft::world {
namespace {

using Json = nlohmann::json;
using std::chrono::seconds;

constexpr UnixSeconds kStart = 1'800'000'000;

// An API server that never answers the first create, which gives up after half a minute.
class SilentOnce final : public controllers::ApiWriter {
 public:
  explicit SilentOnce(Fibers& fibers) : fibers_(fibers) {}
  Result<Json> Create(controllers::Kind, const Json& object, bool) override {
    if (std::exchange(silent_, false)) {
      fibers_.Sleep(seconds(30));
      return NoAnswer();
    }
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

 private:
  static Error NoAnswer() { return {ErrorKind::kTransient, "no answer"}; }
  Fibers& fibers_;
  bool silent_ = true;
};

api::TrainingJob SmallJob() {
  const Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "a", "namespace": "ns", "uid": "u", "generation": 1},
      "spec": {"framework": {"type": "Torch"}, "accelerator": {"perWorker": 8},
               "workers": {"replicas": 1, "template": {"spec": {"containers": [
                   {"name": "t", "image": "i",
                    "resources": {"limits": {"nvidia.com/gpu": 8}}}]}}}}})");
  return *api::DecodeTrainingJob(job, "test");
}

// Only planning keeps the thread busy: after a write without an answer the next pass begins at
// once.
TEST(PlannerPause, DoesNotGrowWithAWriteThatHasNoAnswer) {
  Fibers fibers(1);
  Machine machine(fibers, kStart * 1'000'000, 0);
  const auto now = [&machine] { return machine.Seconds(); };
  watch::Store store(now);
  api::Node node;
  node.meta.key.name = node.meta.uid = node.facts.name = "n";
  node.facts.allocatable = {{"nvidia.com/gpu", 8}, {"pods", 110}};
  node.facts.conditions = {{"Ready", "True"}};
  store.Put(std::move(node));
  store.Put(SmallJob());
  watch::FabricCache cache;
  SilentOnce api(fibers);
  controllers::Log log({.write = [](const std::string&) {}, .time = [] { return std::string(); }});
  controllers::Planner::Options options;
  options.now = now;
  options.on_answer = [](const api::ObjectKey&) {};
  options.executor = &machine;
  controllers::Planner planner(store, cache, api, log, options);
  planner.Enqueue(SmallJob());
  const auto thread = machine.Start([&] { planner.Run(); });
  fibers.RunUntil(run::Instant(seconds(35)));
  EXPECT_TRUE(api.placed_at);
  planner.Stop();
  fibers.RunUntil(run::Instant(seconds(40)));
  thread->Join();
}

}  // namespace
}  // namespace weft::world
