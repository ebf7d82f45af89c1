#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/simulate/run.h"
#include "tests/support/scene.h"

// Scenarios for tests: jobs of whole numbers of workers on a fabric of tests/support.
namespace weft::simulate {

struct TestJob {
  std::string name;
  std::int64_t arrival = 0, run = 0;  // seconds
  std::uint32_t workers = 1;
  std::uint32_t gpus = 8;  // of each worker
  std::optional<std::int64_t> expected = {};
  std::string required = {};  // a level
};

struct FleetScene {
  explicit FleetScene(const testing::FabricShape& shape, const std::vector<TestJob>& jobs)
      : cluster(Build(shape, jobs)), scenario(Make(cluster)) {}

  static cluster::Cluster Build(const testing::FabricShape& shape,
                                const std::vector<TestJob>& jobs) {
    testing::Scene scene(shape);
    for (const TestJob& job : jobs) {
      api::TrainingJob& made = scene.Job(job.name, job.workers, job.gpus);
      made.meta.annotations.Set(kArrivalAnnotation, std::to_string(job.arrival));
      made.meta.annotations.Set(kRunAnnotation, std::to_string(job.run));
      made.expected_duration_seconds = job.expected;
      made.topology.required = job.required;
      // Jobs of equal specs have one shape.
      made.raw = std::make_shared<const nlohmann::json>(nlohmann::json{
          {"spec", {{"workers", job.workers}, {"gpus", job.gpus}, {"required", job.required}}}});
    }
    return scene.Build();
  }
  static Scenario Make(const cluster::Cluster& cluster) {
    auto scenario = MakeScenario(cluster, nullptr, {});
    if (!scenario) std::fprintf(stderr, "%s\n", scenario.error().message.c_str());
    return *std::move(scenario);
  }

  // "a 0-10 n0; b 10-20 n0 n1": when each job ran, in order of start, and where.
  std::string Run(const DispatchRules& rules = {}) const {
    RunOptions options;
    options.rules = rules;
    std::vector<Event> events;
    options.observe = [&](Event&& event) { events.push_back(std::move(event)); };
    const Outcome outcome = simulate::Run(scenario, options);
    std::string text;
    for (const Event& one : events) {
      if (one.kind != EventKind::kStart) continue;
      const Job& job = scenario.jobs[one.job];
      text += (text.empty() ? "" : "; ") + job.name.substr(job.name.find('/') + 1) + " " +
              std::to_string(one.time / kSecond) + "-" +
              std::to_string(outcome.jobs[one.job].end / kSecond);
      for (const fabric::NodeIndex node : one.nodes) {
        text += " " + scenario.on->fabric->node(node).name;
      }
    }
    return text;
  }

  cluster::Cluster cluster;
  Scenario scenario;
};

}  // namespace weft::simulate
