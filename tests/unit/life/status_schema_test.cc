// No status that Weft writes can be refused by crds/: random lives of jobs and gangs of up to
// 16,384 workers, every status of them held against the schema.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/encode.h"
#include "operator/base/random.h"
#include "operator/cluster/placement_pods.h"
#include "operator/life/gang_step.h"
#include "operator/life/status_patch.h"
#include "operator/plan/plan.h"
#include "operator/plan/status.h"
#include "tests/support/crd_schema.h"
#include "tests/support/job_world.h"
#include "tests/support/models.h"
#include "tests/support/scene.h"

namespace weft::life {
namespace {

using testing::JobWorld;
using testing::StatusSchema;

// What a TrainingJob's spec may still take beside its status, and a Placement's nodes.
constexpr std::size_t kStatusBytes = 300'000;

// Text as others write it: of any length, with characters of several bytes.
std::string Words(SplitMix64& random, std::size_t most) {
  static const std::vector<std::string> kLetters = {"a", " ", "\u00e9", "\u20ac", "\U0001f600"};
  std::string text;
  const std::size_t bytes = random.Below(most);
  while (text.size() < bytes) text += kLetters[random.Below(kLetters.size())];
  return text;
}

std::string Letters(SplitMix64& random, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + random.Below(26));
  return text;
}

void Expect(const nlohmann::json& status, const std::string& plural) {
  EXPECT_EQ(StatusSchema(plural).Wrong(status), std::vector<std::string>());
  EXPECT_LE(status.dump().size(), kStatusBytes);
}

// One life with everything going wrong by chance.
class RandomLife {
 public:
  RandomLife(std::uint64_t seed, std::uint32_t workers) : random_(seed), world_(workers) {
    const std::string stem = Letters(random_, random_.Below(2) == 0 ? 1 : 247);
    for (std::string& node : world_.fleet) node = stem + node;
    for (std::uint64_t i = random_.Below(12); i > 0; --i) {
      world_.job.conditions.push_back(
          {"Foreign" + std::to_string(i), "True", "Reason", Words(random_, 99), ""});
    }
    world_.job.failure_policy.max_restarts = 100;
    if (seed % 2 == 1) world_.job.checkpoint = api::CheckpointSpec{};
    world_.on_status = [this](const JobStatus& status) {
      ++statuses;
      ExpectNoLess(status.record);
      const nlohmann::json now(EncodeJobStatus(status));
      Expect(now, "trainingjobs");
      const auto patch = StatusPatch(stored_, now, kJobStatusFields, kInnerFields);
      if (!patch.is_null()) stored_.merge_patch(patch);
      EXPECT_EQ(stored_, now) << "by " << patch;
    };
    world_.on_created = [this](api::Pod& pod, const std::string& node) { Meet(pod, node); };
  }

  void Live(int moments) {
    for (int i = 0; i < moments; ++i) {
      world_.Settle();
      Bend();
      world_.now += static_cast<std::int64_t>(random_.Below(700));
    }
  }

  int statuses = 0;

 private:
  // What is lost stays lost.
  void ExpectNoLess(const api::JobRecord& record) {
    EXPECT_EQ(record.lost && !world_.job.checkpoint, false);
    if (!record.lost) return;
    EXPECT_GE(record.lost->work + record.lost->down(), lost_);
    EXPECT_GE(record.lost->kept, kept_);
    lost_ = record.lost->work + record.lost->down();
    kept_ = record.lost->kept;
  }

  void Meet(api::Pod& pod, const std::string& node) {
    if (random_.Below(100) < refused_percent_) {
      if (random_.Below(2) == 0) pod.unscheduled = Words(random_, 40'000);
      return;
    }
    pod.node_name = node;
    pod.phase = api::PodPhase::kRunning;
    pod.ready = random_.Below(50) != 0;
    if (random_.Below(5'000) == 0) Spoil(pod);
  }

  void Spoil(api::Pod& pod) {
    pod.phase = api::PodPhase::kFailed;
    pod.reason = random_.Below(2) == 0 ? "OutOf" + Words(random_, 3'000) : Words(random_, 3'000);
    if (random_.Below(2) == 0) {
      pod.failure =
          api::Pod::Failure{Words(random_, 60), Words(random_, 5'000),
                            static_cast<std::int64_t>(random_.Below(200)), Words(random_, 300)};
    }
    pod.waiting = Words(random_, 9'000);
  }

  void Bend() {
    refused_percent_ = random_.Below(3) == 0 ? random_.Below(101) : 0;
    world_.room = random_.Below(4) != 0;
    world_.no_room = Words(random_, 60'000);
    world_.not_admitted = random_.Below(6) == 0 ? Words(random_, 60'000) : "";
    world_.job.suspend = random_.Below(8) == 0;
    if (random_.Below(4) == 0) ++world_.job.meta.generation;
    if (world_.job.checkpoint) {
      world_.job.meta.annotations.Set(api::kLastCheckpointTime, FormatTime(world_.now - 60));
    }
    if (world_.pods.empty()) return;
    api::Pod& pod = *world_.pods[random_.Below(world_.pods.size())];
    switch (random_.Below(4)) {
      case 0:
        Spoil(pod);
        break;
      case 1:
        pod.meta.deleting = true;
        break;
      case 2:
        world_.nodes[pod.node_name].exists = false;
        break;
      default:
        break;
    }
  }

  SplitMix64 random_;
  JobWorld world_;
  nlohmann::json stored_;  // the status, by the patches alone
  std::uint64_t refused_percent_ = 0;
  std::int64_t lost_ = 0, kept_ = 0;
};

TEST(StatusSchemaTest, EveryStatusOfAJobFitsTheSchema) {
  int statuses = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomLife life(seed, static_cast<std::uint32_t>(1 + SplitMix64(seed).Below(40)));
    life.Live(40);
    statuses += life.statuses;
  }
  EXPECT_GT(statuses, 2'000);
}

TEST(StatusSchemaTest, EveryStatusOfALargeJobFitsTheSchema) {
  for (const std::uint32_t workers : {1'025U, 2'000U}) {
    SCOPED_TRACE(workers);
    RandomLife life(workers, workers);
    life.Live(6);
    EXPECT_GE(life.statuses, 5);
  }
}

TEST(StatusSchemaTest, AGangOf16384OfWhichNoneIsBoundIsUndone) {
  JobWorld world(16'384);
  bool undone = false;
  world.on_created = [](api::Pod& pod, const std::string&) {
    pod.unscheduled = "0/40000 nodes are available";
  };
  world.on_status = [&](const JobStatus& status) {
    Expect(nlohmann::json(EncodeJobStatus(status)), "trainingjobs");
    undone = undone || ReasonOf(status, "Restarting") == "BindRefused";
  };
  ASSERT_TRUE(world.RunFor(300, 60));
  EXPECT_TRUE(undone);
  EXPECT_EQ(world.status().record.excluded.size(), 1'024U);
}

TEST(StatusSchemaTest, APlacementOf16384OfWhichNoneIsBoundIsUndone) {
  api::Placement placement;
  placement.meta.uid = "u1";
  placement.workers = 16'384;
  placement.pod_selector.emplace();
  std::vector<api::Pod> pods(placement.workers);
  GangView view;
  for (std::uint32_t w = 0; w < placement.workers; ++w) {
    placement.nodes.push_back(std::string(60, 'n') + std::to_string(w));
    pods[w].meta.key = {"ns", std::string(240, 'p') + std::to_string(w)};
    pods[w].meta.annotations = {{kPlacementUidAnnotation, "u1"},
                                {cluster::kWorkerIndexLabel, std::to_string(w)}};
    pods[w].unscheduled = std::string(50'000, 'x');
    view.pods.push_back(&pods[w]);
  }
  placement.conditions = {{"Verified", "Unknown", "Binding", "", FormatTime(1'800'000'000)}};
  view.placement = &placement;
  view.now = 1'800'010'000;
  const UngateStep step = NextUngateStep(view, {});
  ASSERT_TRUE(std::holds_alternative<WritePlacement>(step));
  nlohmann::json patched(PatchOf(placement, std::get<WritePlacement>(step).status));
  EXPECT_GT(patched.at("excludedNodes").size(), 800U);
  patched["nodes"] = placement.nodes;
  EXPECT_EQ(StatusSchema("placements").Wrong(patched), std::vector<std::string>());
  EXPECT_LE(patched.dump().size(), testing::kEtcdBytes - 100'000);  // its spec and metadata
}

// Sixteen levels whose domains are named by their path.
TEST(StatusSchemaTest, APlacementOnADeepFabricFitsTheSchema) {
  testing::FabricShape shape = testing::FourNodes();
  shape.levels.clear();
  for (int level = 0; level < 16; ++level) {
    shape.levels.push_back({std::string(38, 'l') + std::to_string(10 + level), 20'000});
    for (std::size_t n = 0; n < shape.nodes.size(); ++n) {
      shape.nodes[n].domains.resize(16);
      shape.nodes[n].domains[level] = std::string(62, 'd') + (n < 2 ? "a" : "b");
    }
  }
  testing::Scene scene(shape);
  for (fabric::LevelSpec& level : scene.inputs.fabrics[0].spec.levels) {
    level.identity = fabric::Identity::kPath;
  }
  scene.Job("deep", 4).model = testing::MeasuredData(1'000'000'000'000);
  const cluster::Cluster cluster = scene.Build();
  const auto report = plan::Plan(cluster, {});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_TRUE(report->AllPlaced());
  const nlohmann::json placement = plan::PlacementOf(cluster, report->entries[0]);
  EXPECT_EQ(StatusSchema("placements").Wrong(placement["status"]), std::vector<std::string>());
  api::Placement raw;
  raw.raw = std::make_shared<nlohmann::json>(placement);
  JobStatus status;
  Summarise(raw, status.record.summary);
  Expect(nlohmann::json(EncodeJobStatus(status)), "trainingjobs");
}

// What is predicted of a model that nobody could train, and of one that fits.
TEST(StatusSchemaTest, APlacementWithItsOutlookFitsTheSchema) {
  for (const std::int64_t parameters : {7'000'000'000, 70'600'000'000'000}) {
    testing::FabricShape shape = testing::FourNodes();
    for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "NVIDIA-H200";
    testing::Scene scene(shape);
    api::TrainingJob& job = scene.Job("huge", 4);
    job.model = traffic::Model{traffic::testing::Llama70B(), {}};
    job.model->transformer->parameters = parameters;
    job.model->transformer->feed_forward_size.reset();
    const cluster::Cluster cluster = scene.Build();
    const auto report = plan::Plan(cluster, {});
    ASSERT_TRUE(report) << report.error().message;
    ASSERT_TRUE(report->AllPlaced());
    const nlohmann::json placement = plan::PlacementOf(cluster, report->entries[0]);
    ASSERT_TRUE(placement["status"].contains("outlook"));
    EXPECT_EQ(StatusSchema("placements").Wrong(placement["status"]), std::vector<std::string>());
    api::Placement raw;
    raw.raw = std::make_shared<nlohmann::json>(placement);
    JobStatus status;
    Summarise(raw, status.record.summary);
    EXPECT_NE(status.record.summary.step, "");
    Expect(nlohmann::json(EncodeJobStatus(status)), "trainingjobs");
  }
}

}  // namespace
}  // namespace weft::life
