#pragma once

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "operator/plan/plan.h"
#include "operator/render/map_input.h"
#include "operator/render/text_format.h"
#include "tests/support/scene.h"

namespace weft::render {

// A plan and what it was made from.
struct Planned {
  cluster::Cluster cluster;
  plan::PlanReport report;

  // Aborts where there is no plan: a mistake of the test.
  explicit Planned(const testing::Scene& scene) : cluster(scene.Build()) {
    auto plan = plan::Plan(cluster, {});
    if (!plan) {
      std::fprintf(stderr, "the test's plan: %s\n", plan.error().message.c_str());
      std::abort();
    }
    report = *std::move(plan);
  }

  MapInput Map() const { return BuildMap(cluster, report, 0); }
};

// The nodes of the shape, and a pod for what it says is used on each.
inline testing::Scene Used(const testing::FabricShape& shape) {
  testing::Scene scene(shape);
  for (const testing::TestNode& node : shape.nodes) {
    if (node.used > 0) {
      scene.Pod("on-" + node.name, node.name).pod.requests = {{shape.accelerator, node.used}};
    }
  }
  return scene;
}

inline TextOptions Plain(int columns = 100) { return {.colour = false, .columns = columns}; }

}  // namespace weft::render
