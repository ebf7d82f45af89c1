#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "operator/plan/plan.h"
#include "operator/plan/plan_report.h"
#include "tests/support/scene.h"

namespace weft::plan {
namespace {

constexpr const char* kZone = "zone";
constexpr const char* kRack = "rack";

fabric::PodTerm ToOthers(const std::string& key) {
  return {key, fabric::LabelSelector{{{"app", "train"}}, {}}, {}, false};
}

using Labels = std::vector<std::map<std::string, std::string>>;

// The nodes that a job of this many workers with these rules gets on a leaf for each list of nodes.
std::vector<std::string> NodesOf(testing::FabricShape shape, const Labels& labels,
                                 std::uint32_t workers, const fabric::PodTerms& terms) {
  for (std::size_t n = 0; n < shape.nodes.size(); ++n) shape.nodes[n].labels = labels[n];
  testing::Scene scene(shape);
  api::TrainingJob& job = scene.Job("a", workers);
  job.pod.labels = {{"app", "train"}};
  job.pod.terms = terms;
  const cluster::Cluster cluster = scene.Build();
  const auto report = Plan(cluster);
  if (!report || report->entries[0].placed() == nullptr) return {};
  const placement::Plan& plan = report->entries[0].placed()->plan;
  EXPECT_TRUE(plan.exact);
  EXPECT_EQ(plan.lower_bound, plan.cost);
  std::vector<std::string> nodes;
  for (const auto node : plan.nodes) {
    nodes.push_back(cluster.fabrics[0].fabric->node(node).name);
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

TEST(Plan, KeepsWorkersApartByZoneAndByRack) {
  const Labels labels = {
      {{kZone, "a"}, {kRack, "1"}}, {{kZone, "a"}, {kRack, "2"}}, {{kZone, "b"}, {kRack, "1"}}};
  EXPECT_EQ(NodesOf(testing::Leaves({{8, 8, 8}}), labels, 2,
                    fabric::PodTerms{.anti_affinity = {ToOthers(kZone), ToOthers(kRack)}}),
            (std::vector<std::string>{"n1", "n2"}));
}

TEST(Plan, KeepsWorkersApartByRackInOneZone) {
  const Labels labels = {
      {{kZone, "a"}, {kRack, "1"}}, {{kZone, "b"}, {kRack, "2"}}, {{kZone, "a"}, {kRack, "2"}}};
  EXPECT_EQ(
      NodesOf(testing::Leaves({{8, 8, 8}}), labels, 2,
              fabric::PodTerms{.affinity = {ToOthers(kZone)}, .anti_affinity = {ToOthers(kRack)}}),
      (std::vector<std::string>{"n0", "n2"}));
}

TEST(Plan, GathersWorkersInTheZoneWhereTheyAreNear) {
  Labels labels(6, {{kZone, "a"}});
  labels.resize(10, {{kZone, "b"}});
  EXPECT_EQ(NodesOf(testing::Leaves({{8}, {8}, {8}, {8}, {8}, {8}, {8, 8, 8, 8}}), labels, 4,
                    fabric::PodTerms{.affinity = {ToOthers(kZone)}}),
            (std::vector<std::string>{"n6", "n7", "n8", "n9"}));
}

}  // namespace
}  // namespace weft::plan
