#include "operator/cluster/other_devices.h"

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <span>

#include "operator/cluster/devices.h"
#include "tests/support/card_scene.h"

namespace weft::cluster {
namespace {

using Json = nlohmann::json;
using testing::CardScene;

constexpr const char* kResource = "deviceclass.resource.kubernetes.io/nic";

Json Model(const char* model) { return {{"attributes", {{"model", {{"string", model}}}}}}; }

Json Tainted(const char* effect) {
  return {{"taints", Json::array({{{"key", "broken"}, {"effect", effect}}})}};
}

Json Two() { return CardScene::Exactly({{"count", 2}}); }

struct CardCase {
  const char* name;
  std::function<void(CardScene&)> arrange;
  std::vector<std::uint32_t> slots;
};

const CardCase kCounted[] = {
    {"cards on half of the nodes",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       s.CardsOn("n0", 2);
       s.CardsOn("n3", 8);
     },
     {2, 0, 0, 4}},
    {"two cards for each worker",
     [](CardScene& s) {
       s.Template({Two()});
       s.CardsOn("n0", 3);
       s.CardsOn("n1", 1);
       s.CardsOn("n2", 4);
     },
     {1, 0, 2, 0}},
    {"two requests of one card",
     [](CardScene& s) {
       s.Template({CardScene::Exactly(), CardScene::Exactly()});
       s.CardsOn("n0", 5);
     },
     {2, 0, 0, 0}},
    {"cards that claims of others hold, with a pod and without",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       s.CardsOn("n0", 2);
       s.CardsOn("n1", 2);
       s.Pod("p", "n0").pod.requests.clear();
       s.Claim("c", "n0", {"nic-0", "nic-1"}, "p");
       s.Claim("d", "n1", {"nic-1"});
     },
     {0, 1, 0, 0}},
    {"a card that two claims share is used once",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       s.CardsOn("n0", 2);
       s.Claim("c", "n0", {"nic-0"});
       s.Claim("d", "n0", {"nic-0"});
     },
     {1, 0, 0, 0}},
    {"a pod that waits for its card on its node",
     [](CardScene& s) {
       s.Template({Two()});
       s.CardsOn("n0", 4);
       api::Pod& pod = s.Pod("p", "n0");
       pod.pod.requests.clear();
       pod.claims = {{"", "cards"}};
     },
     {1, 0, 0, 0}},
    {"tainted cards",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       s.CardsOn("n0", 2, Tainted("NoSchedule"));
       s.CardsOn("n1", 2, Tainted("NoExecute"));
       s.CardsOn("n2", 2, Tainted("None"));
     },
     {0, 0, 2, 0}},
    {"a class that selects by attribute, and a claim of a card of another class",
     [](CardScene& s) {
       s.Class("fast", {R"(device.driver == "nic.example.com")",
                        R"(device.attributes["nic.example.com"].model == "cx7")"});
       s.Template({CardScene::Exactly({{"deviceClassName", "fast"}})});
       s.CardsOn("n0", 2, Model("cx6"));
       s.CardsOn("n1", 2, Model("cx7"));
       s.CardsOn("n2", 2);
       s.Claim("c", "n0", {"nic-0"});
       s.Claim("d", "n1", {"nic-0"});
     },
     {0, 1, 0, 0}},
    {"a class that cannot be read takes every card of its driver",
     [](CardScene& s) {
       s.Class("odd", {R"(device.driver == "nic.example.com" && device.name.startsWith("x"))"});
       s.Template({CardScene::Exactly({{"deviceClassName", "odd"}})});
       s.CardsOn("n1", 1);
     },
     {0, 1, 0, 0}},
    {"all cards of a node, which then takes one worker, and all that may be shared",
     [](CardScene& s) {
       s.Template({CardScene::Exactly({{"allocationMode", "All"}})});
       s.CardsOn("n2", 3);
       s.CardsOn("n3", 3, {{"allowMultipleAllocations", true}});
     },
     {0, 0, 1, 4}},
    {"cards that every node reaches, and those that some nodes reach",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       s.Slice("everywhere", {{"allNodes", true}}, CardScene::Cards(1));
       const Json term = {
           {"matchFields",
            Json::array({{{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n2"}}}})}};
       s.Slice("some", {{"nodeSelector", {{"nodeSelectorTerms", Json::array({term})}}}},
               CardScene::Cards(2));
     },
     {1, 1, 3, 1}},
    {"places of single devices",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       Json cards = CardScene::Cards(3);
       cards[0]["nodeName"] = cards[1]["nodeName"] = "n1";
       cards[2]["allNodes"] = true;
       s.Slice("mixed", {{"perDeviceNodeSelection", true}}, cards);
     },
     {1, 3, 1, 1}},
    {"a card that several claims may share",
     [](CardScene& s) {
       s.Template({Two()});
       s.CardsOn("n0", 1, {{"allowMultipleAllocations", true}});
       s.Claim("c", "n0", {"nic-0"});
     },
     {4, 0, 0, 0}},
    {"the newest generation of a pool, if all of it is there",
     [](CardScene& s) {
       s.Template({CardScene::Exactly()});
       const auto pool = [](const char* name, int generation, int slices) {
         return Json{{"name", name}, {"generation", generation}, {"resourceSliceCount", slices}};
       };
       s.Slice("a", {{"nodeName", "n0"}, {"pool", pool("n0", 1, 1)}}, CardScene::Cards(3));
       s.Slice("b", {{"nodeName", "n0"}, {"pool", pool("n0", 2, 1)}}, CardScene::Cards(1));
       s.Slice("c", {{"nodeName", "n1"}, {"pool", pool("n1", 2, 2)}}, CardScene::Cards(1));
     },
     {1, 0, 0, 0}},
};

const CardCase kNotLimited[] = {
    {"no ResourceSlice at all",
     [](CardScene& s) { s.Template({CardScene::Exactly()}); },
     {4, 4, 4, 4}},
    {"a class that is not known",
     [](CardScene& s) {
       s.Template({CardScene::Exactly({{"deviceClassName", "unknown"}})});
       s.CardsOn("n0", 1);
     },
     {4, 4, 4, 4}},
    {"a template that is not known", [](CardScene& s) { s.CardsOn("n0", 1); }, {4, 4, 4, 4}},
    {"a class without a driver",
     [](CardScene& s) {
       s.Class("any", {R"(device.driver in ["nic.example.com", "other.example.com"])"});
       s.Template({CardScene::Exactly({{"deviceClassName", "any"}})});
       s.CardsOn("n0", 1);
     },
     {4, 4, 4, 4}},
    {"admin access takes no card",
     [](CardScene& s) {
       s.Template({CardScene::Exactly({{"adminAccess", true}})});
       s.CardsOn("n0", 1);
     },
     {4, 4, 4, 4}},
};

void Check(std::span<const CardCase> cases) {
  for (const CardCase& c : cases) {
    SCOPED_TRACE(c.name);
    CardScene scene;
    c.arrange(scene);
    EXPECT_EQ(scene.Slots(), c.slots);
  }
}

TEST(OtherDevices, LimitTheWorkersOfANode) { Check(kCounted); }

TEST(OtherDevices, LimitNothingWhereLittleIsKnown) { Check(kNotLimited); }

TEST(OtherDevices, AreCountedOnceHoweverOften) {
  for (const CardCase& c : kCounted) {
    SCOPED_TRACE(c.name);
    CardScene scene;
    c.arrange(scene);
    AskForOtherDevices(scene.inputs);
    CountClaims(scene.inputs);
    scene.inputs.nodes = NodesWithDevices(scene.inputs);
    EXPECT_EQ(scene.Slots(), c.slots);
  }
}

TEST(OtherDevices, LeaveAPodWithClaimsOfCardsItsPlugInGpus) {
  CardScene scene;
  scene.Template({CardScene::Exactly()});
  scene.CardsOn("n0", 2);
  scene.Pod("p", "n0").claims = {{"", "cards"}};
  const Cluster cluster = scene.Build();
  const rules::PodRequirements& pod = cluster.inputs->pods[0].pod;
  EXPECT_FALSE(pod.claims_accelerators);
  EXPECT_EQ(pod.requests, (fabric::Resources{{testing::kGpu, 8}, {kResource, 1}}));
}

}  // namespace
}  // namespace weft::cluster
