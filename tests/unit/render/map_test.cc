#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "operator/render/map_html.h"
#include "operator/render/map_input.h"
#include "operator/render/map_layout.h"
#include "operator/render/map_svg.h"
#include "operator/render/map_usage.h"
#include "tests/support/models.h"
#include "tests/support/raw_of.h"
#include "tests/unit/render/planned.h"
#include "tests/unit/render/xml_check.h"

namespace weft::render {
namespace {

using testing::FourNodes;
using testing::Scene;

// A pod on n0; a job on three nodes, one on half a node, and one that does not fit.
Scene Queue() {
  Scene scene(FourNodes());
  scene.Pod("earlier", "n0").pod.requests = {{testing::kGpu, 4}};
  api::TrainingJob& wide = scene.Job("wide", 3);
  wide.model = testing::MeasuredData(1'000'000'000);
  scene.Job("half", 1, 4);
  scene.Job("late", 2);
  return scene;
}

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

bool Has(const std::string& text, const std::string& part) { return Count(text, part) > 0; }

// So many leaves of so many free nodes in one spine.
testing::FabricShape Wide(std::size_t leaves, std::size_t nodes) {
  return testing::Leaves(std::vector<std::vector<int>>(leaves, std::vector<int>(nodes, 8)));
}

TEST(BuildMapTest, TakesJobsRefusalsAndUplinksFromThePlan) {
  const Planned planned(Queue());
  const MapInput map = planned.Map();
  EXPECT_EQ(map.title, "default");
  ASSERT_EQ(map.jobs.size(), 2U);
  EXPECT_EQ(map.jobs[0].name, "ns/wide");
  EXPECT_EQ(map.jobs[0].nodes.size(), 3U);
  EXPECT_EQ(map.jobs[0].spans, "1 spine, 2 leaf, 3 node");
  EXPECT_EQ(map.jobs[1].name, "ns/half");
  EXPECT_EQ(map.jobs[1].cross_node, "-");
  EXPECT_EQ(map.jobs[1].nodes, (ByWorker<fabric::NodeIndex>{fabric::NodeIndex{0}}));
  ASSERT_EQ(map.unplaced.size(), 1U);
  EXPECT_EQ(map.unplaced[0].name, "ns/late");
  EXPECT_EQ(map.unplaced[0].refusal.reason, "InsufficientCapacity");
  EXPECT_FALSE(map.unplaced[0].without_fabric);
}

TEST(BuildMapTest, ShowsPredictionsInTheJobsTooltip) {
  testing::FabricShape shape = FourNodes();
  for (auto& node : shape.nodes) node.labels["nvidia.com/gpu.product"] = "NVIDIA-H200";
  Scene scene(shape);
  scene.Job("llama", 4).model = traffic::Model{traffic::testing::Llama70B(), {}};
  scene.Job("plain", 1);
  const Planned planned(scene);
  const MapInput map = planned.Map();
  ASSERT_EQ(map.jobs.size(), 1U);
  const std::string& text = map.jobs[0].predicted;
  EXPECT_TRUE(text.starts_with("predicted: ")) << text;
  for (const char* part :
       {" a step, ", " tokens/s, ", " % of a GPU&#39;s memory, MFU ", " %, ", " kW"}) {
    EXPECT_TRUE(Has(EscapeXml(text), part)) << text;
  }
  EXPECT_TRUE(Has(MapSvg(map), EscapeXml(text)));
  EXPECT_TRUE(Has(MapHtml({map}), EscapeXml(text)));
}

TEST(BuildMapTest, TheBusiestUplinkIsThatOfTheScores) {
  const Planned planned(Queue());
  const MapInput map = planned.Map();
  const auto uplink = planned.report.entries[0].placed()->scores.busiest_uplink;
  ASSERT_TRUE(uplink);
  EXPECT_GT(uplink->bytes, 0);
  bool found = false;
  for (fabric::Tier t{1}; t < map.leaving.EndIndex(); ++t) {
    for (fabric::DomainIndex d{0}; d < map.leaving[t].EndIndex(); ++d) {
      const MapFlow& flow = map.leaving[t][d];
      EXPECT_LE(flow.milliseconds, uplink->milliseconds);
      const bool is_node = t == map.fabric->node_tier();
      const std::string& name =
          is_node ? map.fabric->node(AsNode(d)).name : map.fabric->domains(t).names[d];
      if (map.fabric->tiers()[t].name != uplink->level || name != uplink->domain) continue;
      found = true;
      EXPECT_EQ(flow.bytes, uplink->bytes);
      EXPECT_DOUBLE_EQ(flow.milliseconds, uplink->milliseconds);
    }
  }
  EXPECT_TRUE(found);
}

TEST(MapUsageTest, EveryGpuIsEarlierPlannedOrFree) {
  const Planned planned(Queue());
  const MapInput map = planned.Map();
  const MapUsage usage(map);
  const DomainUsage whole = usage.In(fabric::kOutside, fabric::DomainIndex{0});
  EXPECT_EQ(whole.total, 32);
  EXPECT_EQ(whole.earlier, 4);
  EXPECT_EQ(whole.planned, (std::vector<std::pair<std::size_t, std::int64_t>>{{0, 24}, {1, 4}}));
  EXPECT_EQ(whole.free, 0);
  EXPECT_EQ(testing::RawOf(usage.Workers(fabric::kOutside, fabric::DomainIndex{0}, 0)),
            (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(MapUsageTest, CountsUnusedGpusOfUnusableNodesAsOff) {
  testing::FabricShape shape = testing::Leaves({{8, 3}, {8, 8}});
  shape.nodes[1].unschedulable = true;
  shape.nodes[2].conditions = {{"Ready", "False"}};
  const Planned planned(Used(shape));
  const DomainUsage whole = MapUsage(planned.Map()).In(fabric::kOutside, fabric::DomainIndex{0});
  EXPECT_EQ(whole.total, 32);
  EXPECT_EQ(whole.earlier, 5);
  EXPECT_EQ(whole.off, 3 + 8);
  EXPECT_EQ(whole.free, 16);
  EXPECT_TRUE(Has(MapHtml({planned.Map()}),
                  "4 nodes, 32 GPUs: 5 held by earlier pods, 0 planned, 16 free, 11 on nodes that "
                  "take no pods (1 node unusable, 1 cordoned)"));
}

TEST(MapUsageTest, APodThatToleratesACordonTakesNothingFromTheFree) {
  testing::FabricShape shape = testing::Leaves({{8}});
  shape.nodes[0].unschedulable = true;
  Scene scene(shape);
  scene.Job("patient", 1, 6).pod.tolerations = {
      {"node.kubernetes.io/unschedulable", "Exists", "", ""}};
  const Planned planned(scene);
  const DomainUsage whole = MapUsage(planned.Map()).In(fabric::kOutside, fabric::DomainIndex{0});
  EXPECT_EQ(whole.planned, (std::vector<std::pair<std::size_t, std::int64_t>>{{0, 6}}));
  EXPECT_EQ(whole.off, 2);
  EXPECT_EQ(whole.free, 0);
}

struct RangeCase {
  const char* name;
  std::vector<std::uint32_t> numbers;
  const char* text;
};
const RangeCase kRanges[] = {{"NothingIsEmpty", {}, ""},
                             {"OneNumberStandsAlone", {7}, "7"},
                             {"ARunIsFolded", {0, 1, 2, 3}, "0-3"},
                             {"RunsAndSinglesFollow", {0, 1, 4, 6, 7}, "0-1, 4, 6-7"}};
class RangeTest : public ::testing::TestWithParam<RangeCase> {};
TEST_P(RangeTest, FoldsRuns) {
  const auto& [name, numbers, text] = GetParam();
  EXPECT_EQ(WorkerRanges({numbers.begin(), numbers.end()}), text) << name;
}
INSTANTIATE_TEST_SUITE_P(All, RangeTest, ::testing::ValuesIn(kRanges),
                         [](const auto& row) { return row.param.name; });

struct EscapeCase {
  const char* name;
  std::string text;
  std::string escaped;
};
const EscapeCase kEscapes[] = {
    {"MarkupIsEscaped", "<a b=\"c\">'&'</a>", "&lt;a b=&quot;c&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;"},
    {"ControlCharactersBecomeQuestionMarks", "a\x01\n\tb\x7f", "a???b?"},
    {"AZeroByteBecomesAQuestionMark", std::string("a\0b", 3), "a?b"},
    {"LettersOfAllTonguesStay", "\u00e9\u4e16\U0001f600", "\u00e9\u4e16\U0001f600"},
    {"BytesThatAreNoUtf8BecomeQuestionMarks", "a\xff\xc3", "a??"},
    {"OverlongFormsBecomeQuestionMarks", "\xc0\xbc\xe0\x80\xbc", "?????"},
    {"SurrogatesBecomeQuestionMarks", "\xed\xa0\x80", "???"},
    {"CharactersForbiddenInXmlBecomeQuestionMarks", "\xef\xbf\xbe", "???"},
    {"PastTheLastCodePointBecomesQuestionMarks", "\xf4\x90\x80\x80", "????"},
};
class EscapeTest : public ::testing::TestWithParam<EscapeCase> {};
TEST_P(EscapeTest, MakesTextHarmless) { EXPECT_EQ(EscapeXml(GetParam().text), GetParam().escaped); }
INSTANTIATE_TEST_SUITE_P(All, EscapeTest, ::testing::ValuesIn(kEscapes),
                         [](const auto& row) { return row.param.name; });

TEST(MapSvgTest, IsWellFormedAndNamesEveryNodeOnce) {
  const Planned planned(Queue());
  const std::string svg = MapSvg(planned.Map());
  EXPECT_EQ(testing::XmlFault(svg), "");
  for (const char* node : {"n0", "n1", "n2", "n3"}) {
    EXPECT_EQ(Count(svg, "<title>" + std::string(node) + "\n"), 1U) << node;
  }
  EXPECT_TRUE(Has(svg, "ns/half: worker 0 (4 GPUs)"));
  EXPECT_TRUE(Has(svg, "0 / 8 free, 4 held by earlier pods"));
  EXPECT_TRUE(Has(svg, "ns/late: not placed, InsufficientCapacity"));
  EXPECT_TRUE(Has(svg, "leave per step"));
}

TEST(MapSvgTest, TheCheckerFindsWhatIsNotWellFormed) {
  EXPECT_EQ(testing::XmlFault("<a b=\"c\"><d/>&amp;</a>\n"), "");
  for (const char* bad : {"<a>", "<a></b>", "<a b=c/>", "<a>&x;</a>", "<a/><b/>", "<a b=\"<\"/>",
                          "<a b=\"\" b=\"\"/>", "x<a/>"}) {
    EXPECT_NE(testing::XmlFault(bad), "") << bad;
  }
}

TEST(MapSvgTest, SaysWhyANodeTakesNothing) {
  testing::FabricShape shape = FourNodes();
  shape.nodes[1].unschedulable = true;
  shape.nodes[2].conditions = {{"Ready", "False"}};
  const Planned planned{Scene(shape)};
  const std::string svg = MapSvg(planned.Map(), Legend::kNone);
  EXPECT_EQ(Count(svg, "class=\"x\""), 2U);
  EXPECT_TRUE(Has(svg, "\ncordoned</title>"));
  EXPECT_TRUE(Has(svg, "\nunusable: "));
  EXPECT_EQ(Count(svg, "0 / 8 free, 0 held by earlier pods"), 2U);
  EXPECT_TRUE(Has(svg, ">16 / 32 free</text>"));
  EXPECT_TRUE(Has(svg, "<title>default\n1 node unusable, 1 cordoned</title>"));
}

TEST(MapSvgTest, TheEdgeOfADomainIsTheWarmerTheLongerItsUplinkNeeds) {
  const Planned planned(Queue());
  MapInput map = planned.Map();
  auto& leaves = map.leaving[fabric::Tier{2}];
  ASSERT_EQ(leaves.size(), 2U);
  EXPECT_GT(leaves[fabric::DomainIndex{0}].milliseconds, 0);
  leaves[fabric::DomainIndex{1}].milliseconds = leaves[fabric::DomainIndex{0}].milliseconds / 3;
  const std::string svg = MapSvg(map, Legend::kNone);
  EXPECT_EQ(Count(svg, "class=\"b e4\""), 1U);
  EXPECT_EQ(Count(svg, "class=\"b e2\""), 1U);
  map.leaving[fabric::Tier{2}] = fabric::ByDomain<MapFlow>(2);
  EXPECT_EQ(Count(MapSvg(map, Legend::kNone), "class=\"b e"), 0U);
}

TEST(MapHtmlTest, SaysWhyAJobIsNotPlaced) {
  const Planned planned(Queue());
  const std::string page = MapHtml({planned.Map()});
  EXPECT_TRUE(Has(page, "not placed: InsufficientCapacity. Fabric &quot;default&quot;"))
      << page.substr(page.find("not placed"), 200);
}

TEST(MapSvgTest, HostileNamesStayText) {
  const std::string evil = "<script>alert(1)</script>\"'&\x01\xff]]>";
  const Planned planned(Queue());
  MapInput map = planned.Map();
  map.title = evil;
  for (MapJob& job : map.jobs) job.name = job.spans = job.cross_node = evil;
  map.unplaced = {{evil, {evil, ""}, false}, {evil, {evil, ""}, true}};
  EXPECT_EQ(testing::XmlFault(MapSvg(map)), "");
  EXPECT_FALSE(Has(MapSvg(map), "<script"));
  const std::string page = MapHtml({map});
  EXPECT_EQ(Count(page, "<script"), 1U);
  const std::size_t from = page.find("<section>"), to = page.find("</section>");
  EXPECT_EQ(testing::XmlFault(page.substr(from, to + 10 - from)), "");
}

TEST(MapSvgTest, DoesNotDependOnTheOrderOfNodes) {
  const Planned forward(Queue());
  Scene scene = Queue();
  scene.inputs.nodes = testing::Reversed(scene.inputs.nodes);
  const Planned backward(scene);
  EXPECT_EQ(MapSvg(forward.Map()), MapSvg(backward.Map()));
  EXPECT_EQ(MapHtml({forward.Map()}), MapHtml({backward.Map()}));
}

TEST(MapSvgTest, AboveTheLimitACellIsADomain) {
  constexpr std::size_t kLeaves = 50, kNodes = kMostNodeCells / kLeaves;
  for (const std::size_t each : {kNodes, kNodes + 1}) {
    Scene scene(Wide(kLeaves, each));
    scene.Job("a", 3);
    const Planned planned(scene);
    const std::string svg = MapSvg(planned.Map());
    EXPECT_EQ(testing::XmlFault(svg), "");
    const bool folded = each > kNodes;
    EXPECT_EQ(Count(svg, "<title>n"), folded ? 0U : kLeaves * each);
    EXPECT_EQ(Count(svg, "<title>l"), kLeaves);
    EXPECT_EQ(Count(svg, std::to_string(each) + " nodes\n"), folded ? kLeaves : 0U);
    EXPECT_TRUE(Has(svg, "workers 0-2 (24 GPUs)") || !folded);
  }
}

TEST(MapSvgTest, AFabricWithoutNodesIsAnEmptyFrame) {
  const Planned planned{Scene(testing::FabricShape{})};
  const std::string svg = MapSvg(planned.Map());
  EXPECT_EQ(testing::XmlFault(svg), "");
  EXPECT_TRUE(Has(svg, "0 / 0 free"));
  EXPECT_TRUE(Has(MapHtml({planned.Map()}), "0 nodes, 0 GPUs"));
}

TEST(MapSvgTest, LongNamesAreClippedOnThePictureAndWholeInTheTitle) {
  testing::FabricShape shape = FourNodes();
  const std::string name = "leaf-" + std::string(60, 'x');
  shape.nodes[0].domains[1] = shape.nodes[1].domains[1] = name;
  const Planned planned{Scene(shape)};
  const std::string svg = MapSvg(planned.Map());
  EXPECT_TRUE(Has(svg, ">leaf-" + std::string(14, 'x') + "\u2026</text>"));
  EXPECT_EQ(Count(svg, "<title>" + name + "</title>"), 1U);
}

TEST(MapSvgTest, FourDozenJobsLookDifferent) {
  std::set<std::string> looks, colours;
  for (std::size_t job = 0; job < 48; ++job) {
    const std::string swatch = JobSwatch(job, 0, 0, 10);
    looks.insert(swatch.substr(swatch.find("<rect")));
    colours.insert(JobColour(job));
  }
  EXPECT_EQ(looks.size(), 48U);
  EXPECT_EQ(colours.size(), 12U);
}

TEST(MapHtmlTest, HasAMapForEachFabricAndNamesWhatHasNoneOnce) {
  const Planned planned(Queue());
  MapInput map = planned.Map();
  map.unplaced.push_back({"ns/lost", {"FabricAmbiguous", ""}, true});
  const std::string page = MapHtml({map, map});
  EXPECT_EQ(Count(page, "<section>"), 2U);
  EXPECT_EQ(Count(page, "ns/lost"), 1U);
  EXPECT_EQ(Count(page, "<tr data-job=\"0\""), 2U);
  EXPECT_TRUE(Has(page, "4 nodes, 32 GPUs: 4 held by earlier pods, 28 planned, 0 free"));
  EXPECT_FALSE(Has(page, "src="));
  EXPECT_EQ(Count(page, "href="), Count(page, "href=\"data:,\""));
}

TEST(MapLayoutTest, TiersWithTheSameDomainsShareAFrame) {
  const auto frames = [](const testing::FabricShape& shape) {
    const Planned planned{Scene(shape)};
    const fabric::Fabric& fabric = *planned.cluster.fabrics[0].fabric;
    const auto boxes = LayOutMap(fabric, fabric.node_tier(), [](auto, auto) { return 10; });
    return std::count_if(boxes.begin(), boxes.end(), [](const MapBox& box) { return !box.cell; });
  };
  EXPECT_EQ(frames(Wide(1, 4)), 2);  // outside, and the spine that is the leaf
  EXPECT_EQ(frames(Wide(2, 4)), 4);  // outside, the spine, two leaves
  const std::string svg = MapSvg(Planned(Scene(Wide(1, 4))).Map());
  EXPECT_TRUE(Has(svg, "<title>s0, leaf l0</title>")) << svg;
}

TEST(MapLayoutTest, FramesHoldWhatIsInThemAndNothingOverlaps) {
  const Planned planned{Scene(Wide(23, 12))};
  const fabric::Fabric& fabric = *planned.cluster.fabrics[0].fabric;
  const auto boxes = LayOutMap(fabric, fabric.node_tier(), [](auto, auto) { return 100; });
  ASSERT_EQ(boxes.size(), 1U + 1 + 23 + 23 * 12);
  const auto right = [](const MapBox& b) { return b.x + b.width; };
  const auto bottom = [](const MapBox& b) { return b.y + b.height; };
  for (const MapBox& a : boxes) {
    EXPECT_LE(right(a), kMapWidth);
    for (const MapBox& b : boxes) {
      if (&a == &b) continue;
      const bool apart = right(a) <= b.x || right(b) <= a.x || bottom(a) <= b.y || bottom(b) <= a.y;
      const auto holds = [&](const MapBox& out, const MapBox& in) {
        return out.tier < in.tier && out.x < in.x && out.y < in.y && right(in) < right(out) &&
               bottom(in) < bottom(out);
      };
      EXPECT_TRUE(apart || holds(a, b) || holds(b, a));
    }
  }
}

struct CellTierCase {
  const char* name;
  MapLimits limits;
  fabric::Tier tier;
};
// Two spines of three leaves of two nodes: tier 1 the spine, 2 the leaf, 3 the node.
const CellTierCase kCellTiers[] = {{"NodesWithinTheLimitAreCells", {12, 100}, fabric::Tier{3}},
                                   {"MoreNodesMakeTheLeafACell", {11, 6}, fabric::Tier{2}},
                                   {"MoreLeavesMakeTheSpineACell", {5, 5}, fabric::Tier{1}},
                                   {"TheWidestLevelIsTheLast", {1, 1}, fabric::Tier{1}}};
class CellTierTest : public ::testing::TestWithParam<CellTierCase> {};
TEST_P(CellTierTest, Follows) {
  testing::FabricShape shape;
  for (int n = 0; n < 12; ++n) {
    shape.nodes.push_back({.name = "n" + std::to_string(n),
                           .domains = {"s" + std::to_string(n / 6), "l" + std::to_string(n / 2)}});
  }
  const Planned planned{Scene(shape)};
  EXPECT_EQ(MapCellTier(*planned.cluster.fabrics[0].fabric, GetParam().limits), GetParam().tier);
}
INSTANTIATE_TEST_SUITE_P(All, CellTierTest, ::testing::ValuesIn(kCellTiers),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace weft::render
