#include "operator/cluster/claim_rules.h"

#include <functional>
#include <span>

#include "operator/api/names.h"
#include "operator/rules/node_judge.h"
#include "tests/support/card_scene.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;
using testing::CardScene;

Json Cel(const std::string& expression) {
  return Json::array({{{"cel", {{"expression", expression}}}}});
}

Json Model(const char* model) { return {{"attributes", {{"model", {{"string", model}}}}}}; }

Json IsModel(const std::string& model) {
  return Cel(R"(device.attributes["nic.example.com"].model == ")" + model + "\"");
}

Json Tainted() {
  return {{"taints", Json::array({{{"key", "slow"}, {"value", "yes"}, {"effect", "NoSchedule"}}})}};
}

Json FirstAvailable(std::vector<Json> choices) {
  for (Json& one : choices) {
    if (!one.contains("deviceClassName")) one["deviceClassName"] = "nic";
  }
  return {{"name", "card"}, {"firstAvailable", choices}};
}

Json Selector(const char* match, const char* key, std::vector<std::string> values) {
  const Json term = {
      {match, Json::array({{{"key", key}, {"operator", "In"}, {"values", values}}})}};
  return {{"nodeSelectorTerms", Json::array({term})}};
}

Json OnNodes(const char* key, std::vector<std::string> values) {
  return Selector("matchExpressions", key, std::move(values));
}

Json OnNode(const std::string& node) { return Selector("matchFields", "metadata.name", {node}); }

struct ClaimScene : CardScene {
  // A claim that all workers of the job name.
  void Shared(const Json& node_selector, const std::string& pod = "") {
    inputs.jobs.Edit(0).claims = {{"shared", ""}};
    Json object = {{"kind", "ResourceClaim"},
                   {"metadata", {{"name", "shared"}, {"namespace", "ns"}}},
                   {"spec", {{"devices", {{"requests", Json::array({Exactly()})}}}}}};
    object["status"]["allocation"]["devices"]["results"] = Json::array();
    if (!node_selector.is_null()) object["status"]["allocation"]["nodeSelector"] = node_selector;
    if (!pod.empty())
      object["status"]["reservedFor"] = Json::array({{{"resource", "pods"}, {"name", pod}}});
    inputs.resource_claims.push_back(Of(api::DecodeResourceClaim(object, "f")));
  }

  void Label(std::size_t node, const char* key, const char* value) {
    inputs.nodes.Edit(node).facts.labels.Set(key, value);
  }

  std::vector<std::string> Notes() const {
    std::vector<std::string> texts;
    for (const auto& note : Build().notes) {
      if (note.reason == "SelectorNotEvaluated") texts.push_back(note.text);
    }
    return texts;
  }
};

struct ClaimCase {
  const char* name;
  std::function<void(ClaimScene&)> arrange;
  std::vector<std::uint32_t> slots;
};

const ClaimCase kCases[] = {
    {"a claim allocated on a node", [](ClaimScene& s) { s.Shared(OnNode("n2")); }, {0, 0, 4, 0}},
    {"a claim allocated on nodes with a label",
     [](ClaimScene& s) {
       s.Label(1, "rack", "a");
       s.Label(3, "rack", "b");
       s.Shared(OnNodes("rack", {"a", "b"}));
     },
     {0, 4, 0, 4}},
    {"the whole selector counts, not only the node's name",
     [](ClaimScene& s) {
       s.Label(1, "rack", "a");
       Json selector = OnNode("n2");
       selector["nodeSelectorTerms"][0]["matchExpressions"] =
           OnNodes("rack", {"a"})["nodeSelectorTerms"][0]["matchExpressions"];
       s.Shared(selector);
     },
     {0, 0, 0, 0}},
    {"a claim allocated everywhere", [](ClaimScene& s) { s.Shared(Json()); }, {4, 4, 4, 4}},
    {"a claim of another namespace",
     [](ClaimScene& s) {
       s.Shared(OnNode("n2"));
       s.inputs.resource_claims.Edit(0).meta.key.space = "other";
     },
     {4, 4, 4, 4}},
    {"a claim that a pod of others uses",
     [](ClaimScene& s) {
       s.Shared(OnNode("n2"), "p");
       s.Pod("p", "n2").pod.requests.clear();
     },
     {0, 0, 4, 0}},
    {"a claim that only a pod of the job uses, which ends before the next attempt",
     [](ClaimScene& s) {
       s.Shared(OnNode("n2"), "p");
       s.Pod("p", "n2", {{api::kJobNameLabel, "job"}}).pod.requests.clear();
     },
     {4, 4, 4, 4}},
    {"a request's selector",
     [](ClaimScene& s) {
       s.Template({CardScene::Exactly({{"selectors", IsModel("cx7")}})});
       s.CardsOn("n0", 2, Model("cx6"));
       s.CardsOn("n1", 2, Model("cx7"));
     },
     {0, 2, 0, 0}},
    {"the cards of a selector that claims of others have, but not those of the job's own pods",
     [](ClaimScene& s) {
       s.Template({CardScene::Exactly({{"selectors", IsModel("cx7")}})});
       for (const char* node : {"n0", "n1", "n2"}) {
         Json cards = CardScene::Cards(2, Model("cx7"));
         cards.push_back(CardScene::Cards(3, Model("cx6"))[2]);
         s.Slice(node, {{"nodeName", node}}, cards);
       }
       s.Claim("c", "n0", {"nic-0"});
       s.Claim("d", "n1", {"nic-0", "nic-1"}, "p");
       s.Pod("p", "n1").pod.requests.clear();
       s.Claim("e", "n2", {"nic-2"}, "q");
       s.Pod("q", "n2", {{api::kJobNameLabel, "job"}}).pod.requests.clear();
     },
     {1, 0, 2, 0}},
    {"a request's selector that cannot be read",
     [](ClaimScene& s) {
       s.Template({CardScene::Exactly({{"selectors", Cel("device.name == 'x'")}})});
       s.CardsOn("n0", 1);
     },
     {1, 0, 0, 0}},
    {"a taint that the request tolerates, and one that it does not",
     [](ClaimScene& s) {
       const Json slow = {{"key", "slow"}, {"operator", "Exists"}, {"effect", "NoSchedule"}};
       s.Template({CardScene::Exactly({{"tolerations", Json::array({slow})}})});
       s.CardsOn("n0", 2, Tainted());
       Json other = Tainted();
       other["taints"][0]["key"] = "broken";
       s.CardsOn("n1", 2, other);
     },
     {2, 0, 0, 0}},
    {"the first alternative that a node can serve",
     [](ClaimScene& s) {
       s.Template({FirstAvailable({{{"count", 2}, {"selectors", IsModel("cx6")}},
                                   {{"count", 1}, {"selectors", IsModel("cx7")}}})});
       s.CardsOn("n0", 2, Model("cx6"));
       s.CardsOn("n1", 1, Model("cx6"));
       s.CardsOn("n2", 3, Model("cx7"));
     },
     {1, 0, 3, 0}},
    {"an alternative of accelerators may serve every node",
     [](ClaimScene& s) {
       s.Template({FirstAvailable({{{"count", 1}}, {{"deviceClassName", "gpu.nvidia.com"}}})});
       s.CardsOn("n0", 1);
     },
     {4, 4, 4, 4}},
};

TEST(LimitToClaims, KeepsWorkersWhereTheirClaimsAre) {
  for (const ClaimCase& c : kCases) {
    SCOPED_TRACE(c.name);
    ClaimScene scene;
    c.arrange(scene);
    EXPECT_EQ(scene.Slots(), c.slots);
  }
}

TEST(LimitToClaims, OnceIsEnough) {
  for (const ClaimCase& c : kCases) {
    SCOPED_TRACE(c.name);
    ClaimScene scene;
    c.arrange(scene);
    LimitToClaims(scene.inputs);
    const rules::PodRequirements once = scene.inputs.jobs[0].pod;
    LimitToClaims(scene.inputs);
    EXPECT_EQ(scene.inputs.jobs[0].pod, once);
    EXPECT_EQ(scene.Slots(), c.slots);
  }
}

TEST(LimitToClaims, KeepsTheRulesOfVolumesBeside) {
  ClaimScene scene;
  scene.inputs.jobs.Edit(0).pod.terms = fabric::PodTerms{.volumes = {{.claim = "data"}}};
  scene.inputs.knows_claims = true;
  scene.Shared(OnNode("n2"));
  const Cluster cluster = scene.Build();
  const auto pending = PendingWorkloads(cluster, Order::kFile);
  ASSERT_TRUE(pending && pending->size() == 1);
  const rules::VolumeRules& rules = *pending->front().pod.volumes;
  EXPECT_EQ(rules.blocked, "its claim data does not exist");
  ASSERT_EQ(rules.places.size(), 1U);
  EXPECT_EQ(rules.places[0].text, "its ResourceClaim shared is allocated on node n2");
}

TEST(LimitToClaims, LimitsPodsThatWaitAtTheGate) {
  ClaimScene scene;
  scene.Shared(OnNode("n2"));
  for (const char* gate : {api::kGate, "other.example.com/gate"}) {
    api::Pod& pod = scene.Pod(gate == api::kGate ? "p" : "q", "");
    pod.claims = {{"shared", ""}};
    pod.scheduling_gates = {gate};
  }
  const Cluster cluster = scene.Build();
  EXPECT_EQ(cluster.inputs->pods[0].pod.volumes->places.size(), 1U);
  EXPECT_TRUE(cluster.inputs->pods[1].pod.volumes->places.empty());
}

TEST(LimitToClaims, SaysWhyANodeTakesNoWorker) {
  ClaimScene scene;
  scene.Template({CardScene::Exactly({{"selectors", IsModel("cx7")}})});
  scene.CardsOn("n0", 2, Model("cx6"));
  const Cluster cluster = scene.Build();
  const auto pending = PendingWorkloads(cluster, Order::kFile);
  ASSERT_TRUE(pending && pending->size() == 1);
  rules::SlotQuery query;
  query.pod = &pending->front().pod;
  query.job = "ns/job";
  query.cap = 4;
  const rules::NodeJudge judge(cluster.fabrics.front().claims, query);
  EXPECT_EQ(judge.Judge(fabric::NodeIndex{0}).detail,
            "its request card of ResourceClaimTemplate cards finds too few devices");
  scene.CardsOn("n1", 1, Model("cx7"));
  scene.Claim("c", "n1", {"nic-0"});
  EXPECT_EQ(scene.Slots(), (std::vector<std::uint32_t>{0, 0, 0, 0}));
  EXPECT_EQ(scene.Slots(/*ignore_claims=*/true), (std::vector<std::uint32_t>{0, 1, 0, 0}));
}

TEST(LimitToClaims, TellsWhatItDoesNotEvaluate) {
  ClaimScene scene;
  scene.Class("odd", {R"(device.driver == "nic.example.com")", "device.name == 'x'"});
  scene.Template(
      {CardScene::Exactly({{"deviceClassName", "odd"}, {"selectors", Cel("device.name == 'y'")}}),
       CardScene::Exactly({{"selectors", IsModel("cx7")}})});
  scene.CardsOn("n0", 2);
  const std::string end = " is not evaluated, so kube-scheduler may refuse nodes that a plan takes";
  EXPECT_EQ(
      scene.Notes(),
      (std::vector<std::string>{
          "DeviceClass odd: CEL device.name == 'x'" + end,
          "request card (odd) of ResourceClaimTemplate cards: CEL device.name == 'y'" + end}));
  scene.inputs.jobs.Edit(0).claims.clear();
  EXPECT_TRUE(scene.Notes().empty());
}

TEST(LimitToClaims, TellsOfTheClassOfAcceleratorsToo) {
  ClaimScene scene;
  scene.Class("big", {R"(device.driver == "gpu.nvidia.com")", "device.name == 'x'"});
  api::TrainingJob& job = scene.inputs.jobs.Edit(0);
  job.claims.clear();
  job.accelerator.device_class = "big";
  EXPECT_EQ(scene.Notes(),
            std::vector<std::string>{
                "DeviceClass big: CEL device.driver == \"gpu.nvidia.com\" && device.name == 'x' is "
                "not evaluated, so kube-scheduler may refuse nodes that a plan takes"});
}

}  // namespace
}  // namespace weft::cluster
