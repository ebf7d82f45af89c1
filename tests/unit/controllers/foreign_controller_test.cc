#include "operator/controllers/foreign_controller.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "operator/api/decode.h"
#include "tests/unit/controllers/fake_api.h"

namespace weft::controllers {
namespace {

using Json = nlohmann::json;

class Events final : public Recorder {
 public:
  void Record(const Happening& one) override {
    texts.push_back(std::string(one.kind) + " " + one.about->key.name + " " +
                    std::string(one.reason) + ": " + one.note);
  }
  std::vector<std::string> texts;
};

// A FakeApi with one Job of two workers behind GetOwner.
class Server final : public ApiWriter {
 public:
  explicit Server(FakeApi& api) : api_(api) {}

  Result<Json> GetOwner(const api::OwnerReference& owner, const std::string& space) override {
    if (forbidden || owner.kind != "Job") return ApiWriter::GetOwner(owner, space);
    return Json::parse(R"({"kind": "Job", "metadata": {"name": "train"}, "spec": {
        "parallelism": 2, "completions": 2, "completionMode": "Indexed"}})");
  }
  Result<Json> Create(Kind kind, const Json& object, bool dry_run) override {
    return api_.Create(kind, object, dry_run);
  }
  Result<Json> Get(const Target& target) override { return api_.Get(target); }
  Result<Json> Patch(const Target& target, const Json& patch) override {
    return api_.Patch(target, patch);
  }
  Result<Json> PatchStatus(const Target& target, const Json& patch) override {
    return api_.PatchStatus(target, patch);
  }
  Result<Json> PatchExactly(const Target& target, const Json& operations) override {
    return api_.PatchExactly(target, operations);
  }
  Status Delete(const Target& target) override { return api_.Delete(target); }
  Status Evict(const Target& target) override { return api_.Evict(target); }

  bool forbidden = false;

 private:
  FakeApi& api_;
};

class ForeignControllerTest : public ::testing::Test {
 protected:
  ForeignControllerTest() {
    watch::StoreHooks hooks;
    hooks.on_gang = [this](const api::ObjectKey& gang) { gang_ = gang; };
    store_.SetHooks(std::move(hooks));
    api_.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      if (kind == Kind::kPod) store_.Put(*api::DecodePod(object, "test"));
      if (kind == Kind::kPlacement && object.is_null()) store_.Remove<api::Placement>({key});
    };
  }

  void AddPod(const std::string& name, const Json& annotations = Json::object(),
              const char* resource = "nvidia.com/gpu") {
    Json pod = Json::parse(R"({"kind": "Pod", "metadata": {"namespace": "ns", "labels": {
        "weft.dev/place": "true", "batch.kubernetes.io/controller-uid": "u-1",
        "batch.kubernetes.io/job-name": "train"},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "train",
                             "uid": "u-1", "controller": true}]},
      "spec": {"schedulingGates": [{"name": "weft.dev/placement"}, {"name": "other"}],
               "containers": [{"name": "c"}]}})");
    pod["metadata"]["name"] = name;
    pod["metadata"]["annotations"] = annotations;
    pod["spec"]["containers"][0]["resources"] = {{"limits", {{resource, 8}}}};
    api_.Apply(Kind::kPod, pod);
  }

  // Until a pass leaves nothing to do.
  Result<Outcome> Run() {
    for (int i = 0; i < 10; ++i) {
      const auto outcome = controller_.Reconcile(gang_);
      if (!outcome || !outcome->again) return outcome;
    }
    return Error{ErrorKind::kTransient, "no rest"};
  }

  api::ObjectKey gang_;
  watch::Store store_{[] { return 0; }};
  watch::FabricCache cache_;
  FakeApi api_{[] { return 0; }};
  Server server_{api_};
  Events events_;
  Log log_{{.write = [](const std::string&) {}, .time = [] { return std::string(); }}};
  ForeignController controller_{store_, cache_, server_, events_, log_, {}};
};

TEST_F(ForeignControllerTest, MakesThePlacementThatThePodsAskFor) {
  AddPod("a", {{"weft.dev/parallelism", R"({"tensor": 8})"},
               {"kueue.x-k8s.io/podset-preferred-topology", "kubernetes.io/hostname"}});
  AddPod("b");
  ASSERT_TRUE(Run());
  ASSERT_EQ(api_.CountOf(Kind::kPlacement), 1U);
  const Json& made = api_.At(Kind::kPlacement, gang_.name);
  EXPECT_EQ(made["metadata"]["ownerReferences"],
            Json::parse(R"([{"apiVersion": "batch/v1", "kind": "Job", "name": "train",
                             "uid": "u-1"}])"));
  EXPECT_EQ(made["metadata"]["labels"]["weft.dev/gang"], gang_.name);
  EXPECT_EQ(made["spec"]["workers"], 2);
  EXPECT_EQ(made["spec"]["accelerator"],
            Json::parse(R"({"resourceName": "nvidia.com/gpu", "perWorker": 8})"));
  EXPECT_EQ(made["spec"]["parallelism"]["tensor"], 8);
  EXPECT_EQ(made["spec"]["topology"], Json::parse(R"({"preferred": "node"})"));
  EXPECT_EQ(made["spec"]["podSelector"]["matchLabels"],
            Json::parse(R"({"batch.kubernetes.io/controller-uid": "u-1",
                            "weft.dev/place": "true"})"));
  EXPECT_EQ(made["spec"]["workerIndexLabels"][0]["key"],
            "batch.kubernetes.io/job-completion-index");
  const std::string says = " PlacementCreated: Placement " + gang_.name + " of 2 workers created";
  EXPECT_EQ(events_.texts, (std::vector<std::string>{"Job train" + says, "Pod a" + says}));
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.counts["create Placement"], 1);
}

TEST_F(ForeignControllerTest, TellsTheJobAndItsFirstPodWhatIsWrong) {
  AddPod("a", {{"weft.dev/topology", R"({"required": 1})"}});
  const auto outcome = Run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->seconds, 60);
  const std::string says =
      " PlacementRefused: annotation weft.dev/topology: required: 1 must be a string; quote it";
  EXPECT_EQ(events_.texts, (std::vector<std::string>{"Job train" + says, "Pod a" + says}));
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

TEST_F(ForeignControllerTest, AnExclusiveTopologyThatWaitsForTheLeaderIsRefused) {
  Json pod = Json::parse(R"({"kind": "Pod", "metadata": {"namespace": "ns", "name": "l-0",
      "labels": {"weft.dev/place": "true", "leaderworkerset.sigs.k8s.io/name": "l",
                 "leaderworkerset.sigs.k8s.io/group-index": "0",
                 "leaderworkerset.sigs.k8s.io/worker-index": "0"},
      "annotations": {"leaderworkerset.sigs.k8s.io/size": "4",
                      "leaderworkerset.sigs.k8s.io/exclusive-topology": "rack"},
      "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "l",
                           "uid": "s-1", "controller": true}]},
    "spec": {"schedulingGates": [{"name": "weft.dev/placement"}],
             "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})");
  api_.Apply(Kind::kPod, pod);
  const auto outcome = Run();
  ASSERT_TRUE(outcome);
  EXPECT_EQ(outcome->seconds, 60);
  ASSERT_EQ(events_.texts.size(), 2U);
  const std::string says =
      " PlacementRefused: annotation leaderworkerset.sigs.k8s.io/exclusive-topology: ";
  EXPECT_EQ(events_.texts[0].substr(0, says.size() + 13), "StatefulSet l" + says);
  EXPECT_EQ(events_.texts[1].substr(0, says.size() + 7), "Pod l-0" + says);
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

TEST_F(ForeignControllerTest, AnUnreadableOwnerAsksForTheAnnotation) {
  server_.forbidden = true;
  AddPod("a");
  ASSERT_TRUE(Run());
  EXPECT_EQ(events_.texts.at(1),
            "Pod a PlacementRefused: the number of workers is unknown, because Job train cannot be "
            "read (batch/v1 Job ns/train is of a kind that Weft does not know); set the annotation "
            "weft.dev/workers on the pod template");
  AddPod("a", {{"weft.dev/workers", "4"}});
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.At(Kind::kPlacement, gang_.name)["spec"]["workers"], 4);
}

TEST_F(ForeignControllerTest, RecordsAnEventIfTheServerRefusesThePlacement) {
  api_.refuse = [](Kind, const Json&) { return std::optional<std::string>("no such thing"); };
  AddPod("a");
  ASSERT_TRUE(Run());
  EXPECT_EQ(events_.texts.at(0), "Job train PlacementRefused: no such thing");
}

TEST_F(ForeignControllerTest, APodWithoutAnAcceleratorLosesOnlyWeftsGate) {
  AddPod("a", Json::object(), "example.com/nic");
  ASSERT_TRUE(Run());
  EXPECT_EQ(api_.At(Kind::kPod, "a")["spec"]["schedulingGates"],
            Json::parse(R"([{"name": "other"}])"));
  EXPECT_EQ(api_.CountOf(Kind::kPlacement), 0U);
}

TEST_F(ForeignControllerTest, APlacementOfSomebodyElseOfThatNameStays) {
  AddPod("a");
  Json other = Json::parse(R"({"apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "metadata": {"namespace": "ns"}, "spec": {"workers": 1, "accelerator": {"perWorker": 1}}})");
  other["metadata"]["name"] = gang_.name;
  api_.Apply(Kind::kPlacement, other);
  ASSERT_TRUE(Run());
  EXPECT_EQ(events_.texts.at(0), "Job train PlacementRefused: Placement " + gang_.name +
                                     " already exists, and Weft did not make it");
}

TEST_F(ForeignControllerTest, PodsOfNoGangAreToldSo) {
  Json pod = Json::parse(R"({"kind": "Pod", "metadata": {"namespace": "ns", "name": "alone",
      "labels": {"weft.dev/place": "true"}}, "spec": {
      "schedulingGates": [{"name": "weft.dev/placement"}], "containers": [{"name": "c"}]}})");
  api_.Apply(Kind::kPod, pod);
  EXPECT_EQ(gang_, (api::ObjectKey{"ns", ""}));
  ASSERT_TRUE(Run());
  ASSERT_EQ(events_.texts.size(), 1U);
  EXPECT_EQ(events_.texts[0].substr(0, 51), "Pod alone PlacementRefused: pod alone has no contro");
}

TEST_F(ForeignControllerTest, PodsOfAPlacementByNameAreLeftAlone) {
  AddPod("a");
  gang_ = {};
  api_.Edit(Kind::kPod, "a",
            [](Json& pod) { pod["metadata"]["labels"]["weft.dev/placement"] = "theirs"; });
  EXPECT_EQ(gang_, api::ObjectKey{});
}

}  // namespace
}  // namespace weft::controllers
