#include "operator/controllers/fleet_collector.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "operator/plan/solver_crash.h"
#include "tests/support/fabric_builder.h"
#include "tests/support/models.h"

namespace weft::controllers {
namespace {

constexpr UnixSeconds kNow = 1'000'000;

// A store of one fabric with two leaves of two nodes, and a clock that stands until it is told.
struct World {
  watch::Store store{[] { return kNow; }};
  watch::FabricCache cache;
  double clock = 100;
  FleetCollector collector;
  int versions = 0;
  std::vector<std::string> named;  // the workloads whose figures were computed

  explicit World(bool audit = false, const std::string& accelerator = "", int taper_percent = 100)
      : collector(store, cache, OptionsOf(audit)) {
    watch::StoreHooks hooks;
    hooks.on_job = [this](const api::ObjectKey&) { collector.OnChange(); };
    hooks.on_placement = [](const api::ObjectKey&) {};
    hooks.on_capacity = [this] { collector.OnChange(); };
    hooks.on_fabric = [] {};
    store.SetHooks(hooks);
    const testing::FabricShape shape = testing::Leaves({{8, 8}, {8, 8}});
    for (fabric::NodeFacts& facts : testing::MakeNodes(shape)) {
      api::Node node;
      node.meta = Meta("", facts.name);
      node.facts = std::move(facts);
      store.Put(std::move(node));
    }
    api::Fabric fabric;
    fabric.meta = Meta("", "default");
    fabric.spec = testing::MakeSpec(shape);
    fabric.spec.accelerator_model = accelerator;
    fabric.spec.levels.front().link->oversubscription_percent = taper_percent;
    if (!accelerator.empty()) fabric.spec.levels.back().power_watts = 20'000;
    store.Put(std::move(fabric));
  }

  FleetCollector::Options OptionsOf(bool audit) {
    FleetCollector::Options options;
    options.now = [] { return kNow; };
    options.seconds = [this] { return clock; };
    options.audit = audit;
    options.deciding = [this](const cluster::WorkloadView* one, plan::Solving solving) {
      if (one == nullptr) return;
      EXPECT_EQ(solving, plan::Solving::kFigures);
      named.push_back(one->key().name);
    };
    return options;
  }

  api::ObjectMeta Meta(const std::string& space, const std::string& name) {
    api::ObjectMeta meta;
    meta.key = {space, name};
    meta.uid = name + "-uid";
    meta.resource_version = std::to_string(++versions);
    return meta;
  }

  void Crash(const std::string& name, int times, plan::Solving solving) {
    api::TrainingJob job = *store.ObjectsOf({"team-a", name})->job;
    for (int i = 0; i < times; ++i) {
      plan::RecordCrash(job.conditions, 0, {"0.1.0", 11, solving}, kNow);
    }
    store.Put(std::move(job));
  }

  void PutJob(const std::string& name) {
    api::TrainingJob job;
    job.meta = Meta("team-a", name);
    job.meta.creation_timestamp = FormatTime(kNow - 60);
    job.replicas = 2;
    job.accelerator = {"nvidia.com/gpu", 8};
    job.conditions = {{"Placed", "False", "NoCapacity", "", FormatTime(kNow - 50)}};
    store.Put(std::move(job));
  }

  void PutPod(const std::string& name, const std::string& node, const std::string& owner) {
    api::Pod pod;
    pod.meta = Meta("team-b", name);
    pod.meta.owners = {{"batch/v1", "Job", owner, owner + "-uid", true}};
    pod.node_name = node;
    pod.phase = api::PodPhase::kRunning;
    pod.pod.requests = {{"nvidia.com/gpu", 8}};
    store.Put(std::move(pod));
  }

  // A job that holds two nodes, of which somebody has predicted something.
  void PutRunning(const std::string& name, std::vector<std::string> nodes = {"n0", "n1"},
                  const std::optional<traffic::Model>& model = {}) {
    api::TrainingJob job;
    job.meta = Meta("team-a", name);
    job.replicas = 2;
    job.accelerator = {"nvidia.com/gpu", 8};
    job.pod.requests = {{"nvidia.com/gpu", 8}};
    job.attempt = 1;
    job.placement_name = name + "-1";
    job.model = model;
    if (model) job.parallelism.tensor = 8;
    job.conditions = {{"Placed", "True", "Placed", "", FormatTime(kNow - 50)}};
    api::Placement placement;
    placement.meta = Meta("team-a", job.placement_name);
    placement.meta.labels.Set("weft.dev/job-name", name);
    placement.meta.labels.Set("weft.dev/attempt", "1");
    placement.meta.owners = {{"weft.dev/v1alpha1", "TrainingJob", name, name + "-uid", true}};
    placement.workers = 2;
    placement.accelerator = {"nvidia.com/gpu", 8};
    placement.nodes = std::move(nodes);
    placement.raw = std::make_shared<const nlohmann::json>(nlohmann::json::parse(R"({"status": {
      "outlook": {"memoryPerGPU": {"total": "40G", "capacity": "80G", "percent": 50},
                  "stepMilliseconds": 1500, "mfuPercent": 41, "tokensPerSecond": 767000,
                  "powerWatts": 14717, "acceleratorPowerWatts": 10237,
                  "costPerHour": "47.20", "currency": "USD"}}})"));
    store.Put(std::move(job));
    store.Put(std::move(placement));
  }

  // The next scrape, so much later.
  std::string Scrape(double later = 60) {
    clock += later;
    return collector.Collect()->text;
  }
};

bool Has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST(FleetCollectorTest, ShowsWhatIsFreeAndWhoWaits) {
  World world;
  world.PutJob("a");
  world.PutPod("p", "n0", "other");
  const std::string text = world.Scrape();
  EXPECT_TRUE(Has(text, "weft_fabric_nodes{fabric=\"default\",state=\"free\"} 3")) << text;
  EXPECT_TRUE(Has(text,
                  "weft_fabric_free_slots{fabric=\"default\",level=\"leaf\",product=\"\","
                  "slot_nodes=\"2\"} 1"));
  EXPECT_TRUE(Has(text,
                  "weft_trainingjob_waiting_since_timestamp_seconds{trainingjob=\"a\","
                  "trainingjob_namespace=\"team-a\",reason=\"NoCapacity\"} 999940"))
      << text;
  EXPECT_TRUE(Has(text, "weft_trainingjobs{phase=\"Pending\"} 1"));
}

TEST(FleetCollectorTest, ForgetsWhatIsDeleted) {
  World world;
  world.PutJob("a");
  world.PutPod("p", "n0", "other");
  EXPECT_NE(world.Scrape().find("trainingjob=\"a\""), std::string::npos);
  world.store.Remove<api::TrainingJob>({{"team-a", "a"}});
  world.store.Remove<api::Pod>({{"team-b", "p"}});
  const std::string text = world.Scrape();
  EXPECT_EQ(text.find("trainingjob=\"a\""), std::string::npos) << text;
  EXPECT_TRUE(Has(text, "weft_fabric_nodes{fabric=\"default\",state=\"free\"} 4")) << text;
}

TEST(FleetCollectorTest, ShowsWhatIsPredictedOfARunningJob) {
  World world(false, "H100");
  world.PutRunning("a");
  const std::string text = world.Scrape();
  const std::string job = "{trainingjob=\"a\",trainingjob_namespace=\"team-a\"} ";
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_step_seconds" + job + "1.5")) << text;
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_tokens_per_second" + job + "767000"));
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_mfu_ratio" + job + "0.41"));
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_memory_bytes" + job + "40000000000")) << text;
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_memory_ratio" + job + "0.5")) << text;
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_watts" + job + "14717"));
  EXPECT_TRUE(Has(text, "weft_trainingjob_predicted_accelerator_watts" + job + "10237"));
  EXPECT_TRUE(Has(text,
                  "weft_trainingjob_cost_per_hour{trainingjob=\"a\","
                  "trainingjob_namespace=\"team-a\",currency=\"USD\"} 47.2"))
      << text;
  const auto watts = [&](const std::string& leaf) {
    const std::string series =
        "weft_fabric_domain_predicted_watts{fabric=\"default\",level=\"leaf\",domain=\"" + leaf +
        "\"} ";
    const std::size_t at = text.find(series);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
  };
  EXPECT_NEAR(watts("l0"), 16 * 919.8, 0.01) << text;
  EXPECT_TRUE(Has(text,
                  "weft_fabric_domain_power_headroom_watts{fabric=\"default\",level=\"leaf\","
                  "domain=\"l0\"} 4320"))  // of 20 kW, 16 H100 at 980 W
      << text;
  EXPECT_EQ(watts("l1"), 0);
}

TEST(FleetCollectorTest, ShowsTheTimeThatAJobWithCheckpointsHasLost) {
  World world;
  world.PutJob("without");
  world.PutRunning("with");
  api::TrainingJob job = *world.store.ObjectsOf({"team-a", "with"})->job;
  job.meta.resource_version = std::to_string(++world.versions);
  job.checkpoint = api::CheckpointSpec{.interval_seconds = 1'800, .stall_seconds = 5};
  job.record.checkpoint = api::CheckpointRecord{kNow - 100, 1'200, 465};
  job.record.lost.emplace();
  job.record.lost->kept = 600;
  job.record.lost->work = 500;
  job.record.lost->start = 100;
  job.record.lost->failures = 1;
  job.record.lost->until = kNow - 100;
  world.store.Put(job);
  const std::string of = "{trainingjob=\"with\",trainingjob_namespace=\"team-a\"";
  std::string text = world.Scrape();
  for (const char* sample :
       {"failures@} 1", "kept_seconds@} 600", "lost_seconds@,part=\"LostWork\",exact=\"true\"} 500",
        "lost_seconds@,part=\"Start\",exact=\"true\"} 100", "effective_time_ratio@} 0.5",
        "last_checkpoint_timestamp_seconds@} 999900", "checkpoint_interval_seconds@} 1800",
        "unsaved_since_timestamp_seconds@} 999900", "advised_checkpoint_interval_seconds@} 465"}) {
    std::string line = std::string("weft_trainingjob_") + sample;
    line.replace(line.find('@'), 1, of);
    EXPECT_TRUE(Has(text, line)) << line << "\n" << text;
  }
  EXPECT_EQ(text.find("lost_seconds{trainingjob=\"without\""), std::string::npos);
  job.meta.resource_version = std::to_string(++world.versions);
  job.record.recovery =
      api::Recovery{"NodeLost", 1, "n1", kNow - 9, api::RecoveryPhase::kReplacing};
  world.store.Put(job);
  text = world.Scrape();
  EXPECT_TRUE(Has(text, "weft_trainingjob_recovery_since_timestamp_seconds" + of +
                            ",cause=\"NodeLost\",phase=\"Replacing\"} 999991"))
      << text;
  EXPECT_EQ(text.find("unsaved_since"), std::string::npos) << text;
}

TEST(FleetCollectorTest, TellsHowMuchJobsSlowEachOtherDownOnUplinks) {
  World world(false, "H100", 1600);
  traffic::Model model{traffic::testing::Llama70B(), {}};
  model.transformer->global_batch_size = 2;    // little to compute between gradients
  world.PutRunning("a", {"n0", "n2"}, model);  // both jobs on both leaves
  world.PutRunning("b", {"n1", "n3"}, model);
  const auto ratio = [](const std::string& text, const std::string& job) {
    const std::string series = "weft_trainingjob_predicted_contention_ratio{trainingjob=\"" + job +
                               "\",trainingjob_namespace=\"team-a\"} ";
    const std::size_t at = text.find(series);
    return at == std::string::npos ? -1 : std::stod(text.substr(at + series.size()));
  };
  const std::string both = world.Scrape();
  EXPECT_GT(ratio(both, "a"), 1.5) << both;
  EXPECT_LE(ratio(both, "a"), 2);
  EXPECT_DOUBLE_EQ(ratio(both, "a"), ratio(both, "b"));
  world.store.Remove<api::TrainingJob>({{"team-a", "b"}});
  world.store.Remove<api::Placement>({{"team-a", "b-1"}});
  const std::string alone = world.Scrape();
  EXPECT_EQ(ratio(alone, "a"), 1) << alone;
  EXPECT_EQ(ratio(alone, "b"), -1);
}

TEST(FleetCollectorTest, TellsOfFabricsThatCannotBeUsed) {
  World world;
  api::Fabric broken;
  broken.meta.key.name = "broken";
  broken.unreadable = "spec.levels[0]: no such link type";
  world.store.Put(broken);
  const std::string text = world.Scrape();
  EXPECT_TRUE(Has(text, "weft_fabric_valid{fabric=\"broken\"} 0")) << text;
  EXPECT_TRUE(Has(text, "weft_fabric_valid{fabric=\"default\"} 1")) << text;
}

TEST(FleetCollectorTest, WorksThemOutOnlyWhereSomethingChanged) {
  World world;
  const auto first = world.collector.Collect();
  world.clock += 60;
  EXPECT_EQ(world.collector.Collect(), first);
  world.PutJob("a");
  EXPECT_NE(world.collector.Collect(), first);
}

TEST(FleetCollectorTest, WorksThemOutAtMostOnceASecond) {
  World world;
  const auto first = world.collector.Collect();
  world.PutJob("a");
  world.clock += 0.5;
  EXPECT_EQ(world.collector.Collect(), first);
  world.clock += 0.6;
  EXPECT_NE(world.collector.Collect(), first);
}

TEST(FleetCollectorTest, JudgesGangsOfOthersWhereItIsAsked) {
  World plain, auditing(true);
  for (World* world : {&plain, &auditing}) {
    world->PutPod("g-0", "n0", "gang");
    world->PutPod("g-1", "n2", "gang");
  }
  EXPECT_EQ(plain.Scrape().find("weft_gang"), std::string::npos);
  const std::string text = auditing.Scrape();
  const std::string gang =
      "{gang=\"gang\",gang_namespace=\"team-b\",gang_kind=\"Job\",fabric=\"default\"} ";
  EXPECT_TRUE(Has(text, "weft_gang_workers" + gang + "2")) << text;
  // Across leaves a byte takes twice as long as inside one.
  EXPECT_TRUE(Has(text, "weft_gang_excess_cost_ratio" + gang + "1")) << text;
  EXPECT_TRUE(Has(text, "weft_gangs{modelled=\"false\"} 1")) << text;
}

TEST(FleetCollectorTest, AGangThatComesRightAfterAnAuditIsJudgedInTheNext) {
  World world(true);
  world.Scrape();
  world.PutPod("g-0", "n0", "gang");
  world.PutPod("g-1", "n2", "gang");
  EXPECT_EQ(world.Scrape(2).find("weft_gang_workers"), std::string::npos);
  EXPECT_NE(world.Scrape(4).find("weft_gang_workers"), std::string::npos);
}

TEST(FleetCollectorTest, CountsTheRecordsOfCrashesOfTheSolver) {
  World world;
  for (const int crashes : {0, 1, 2}) {
    api::TrainingJob job;
    job.meta = world.Meta("team-a", "crashed-" + std::to_string(crashes));
    job.meta.generation = 3;
    job.replicas = 2;
    job.accelerator = {"nvidia.com/gpu", 8};
    for (int i = 0; i < crashes; ++i) plan::RecordCrash(job.conditions, 3, {"0.1.0", 11}, kNow);
    world.store.Put(job);
    job.meta = world.Meta("team-a", "edited-" + std::to_string(crashes));
    job.meta.generation = 4;  // the record is of an earlier spec
    world.store.Put(std::move(job));
  }
  const std::string text = world.collector.Collect()->text;
  for (const char* sample :
       {R"({kind="TrainingJob",state="retried"} 1)", R"({kind="TrainingJob",state="refused"} 1)",
        R"({kind="Placement",state="retried"} 0)", R"({kind="Placement",state="refused"} 0)"}) {
    EXPECT_NE(text.find(std::string("weft_solver_crash_records") + sample), std::string::npos)
        << sample;
  }
}

TEST(FleetCollectorTest, SearchesForNoJobThatTheSolverCrashedOnTwice) {
  World world;
  world.PutRunning("sound");
  world.PutRunning("poison", {"n2", "n3"});
  world.Crash("poison", 2, plan::Solving::kNodes);
  const std::string text = world.Scrape();
  EXPECT_NE(text.find("cost_over_best_ratio{trainingjob=\"sound\""), std::string::npos) << text;
  EXPECT_EQ(text.find("cost_over_best_ratio{trainingjob=\"poison\""), std::string::npos) << text;
}

// A Placement that a Workload of Kueue controls too: its own status has the record.
TEST(FleetCollectorTest, NamesEachWorkloadWhoseFiguresItComputesUnlessTheyCrashedTheSolver) {
  World world;
  world.PutRunning("sound");
  world.PutRunning("poison", {"n2", "n3"});
  world.Crash("poison", 1, plan::Solving::kFigures);
  const std::string text = world.Scrape();
  EXPECT_EQ(world.named, std::vector<std::string>{"sound"});
  EXPECT_EQ(text.find("cost_over_best_ratio{trainingjob=\"poison\""), std::string::npos) << text;
}

}  // namespace
}  // namespace weft::controllers
