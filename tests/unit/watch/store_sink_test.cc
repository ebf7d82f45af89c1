#include "operator/watch/store_sink.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "operator/api/decode.h"

namespace weft::watch {
namespace {

using Json = nlohmann::json;
const api::ObjectKey kKey{"ns", "x"};

template <typename T>
Result<T> Served(Result<T> (*decode)(const Json&, const api::Place&, api::Reading),
                 const Json& object) {
  return decode(object, kServedPlace, api::Reading::kServed);
}

// What a watch says, from the API server's JSON to the store.
template <typename T>
class World {
 public:
  explicit World(KindInStore<T> kind) : sink_("things", std::move(kind), store, hooks_) {
    hooks_.on_unreadable = [this](const std::string& resource, const api::ObjectKey& key,
                                  const std::string& why) {
      unreadable.push_back(resource + ": " + api::Show(key) + ": " + why);
    };
  }

  // As the decoder in front would.
  void Upsert(const Json& object) { decoding_.OnUpsert({kKey, object, ""}); }
  void Refuse(const Json& object, const std::string& why) {
    decoding_.OnUpsert({kKey, object, why});
  }

  Store store{[] { return UnixSeconds{1'000}; }};
  std::vector<std::string> unreadable;

 private:
  WatchHooks hooks_;
  StoreSink<T> sink_;
  kube::DecodingSink<T> decoding_{kServedPlace, sink_.decode(), sink_};
};

Json JobObject(int replicas, const std::string& version) {
  Json job = Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "TrainingJob",
      "metadata": {"name": "x", "namespace": "ns", "uid": "u1", "finalizers": ["weft.dev/claims"]},
      "spec": {"workers": {"template": {"spec": {
          "containers": [{"name": "t", "resources": {"limits": {"nvidia.com/gpu": "4"}}}]}}}},
      "status": {"attempt": 3, "restarts": 2, "conditions": [
          {"type": "Placed", "status": "True", "reason": "Placed", "message": "",
           "lastTransitionTime": "2026-08-22T10:00:00Z"}]}})");
  job["spec"]["workers"]["replicas"] = replicas;
  job["metadata"]["resourceVersion"] = version;
  return job;
}

KindInStore<api::TrainingJob> Jobs() {
  const auto decode = [](const Json& object, const api::Place&) {
    return Served(api::DecodeTrainingJob, object);
  };
  return {decode, decode};
}

TEST(StoreSinkTest, AJobThatIsEditedWrongAndPutRightIsTheSameJobAllTheTime) {
  World<api::TrainingJob> world(Jobs());
  world.Upsert(JobObject(2, "1"));
  EXPECT_EQ(world.store.ObjectsOf(kKey)->job->unreadable, "");
  world.Upsert(JobObject(0, "2"));
  auto job = world.store.ObjectsOf(kKey)->job;
  EXPECT_EQ(job->unreadable, "spec.workers.replicas: 0 must be at least 1");
  EXPECT_EQ(job->attempt, 3);
  EXPECT_EQ(job->record.restarts, 2);
  EXPECT_EQ(job->meta.finalizers.size(), 1U);
  ASSERT_EQ(world.unreadable.size(), 1U);
  EXPECT_NE(world.unreadable[0].find("things: ns/x: "), std::string::npos);
  EXPECT_NE(world.unreadable[0].find("spec.workers.replicas"), std::string::npos);
  world.Upsert(JobObject(2, "3"));
  job = world.store.ObjectsOf(kKey)->job;
  EXPECT_EQ(job->unreadable, "");
  EXPECT_EQ(job->replicas, 2U);
}

TEST(StoreSinkTest, OfAJobThatOurGuardsRefuseTheStatusStays) {
  World<api::TrainingJob> world(Jobs());
  Json head = JobObject(2, "1");
  head.erase("spec");
  world.Refuse(head, "watch event: line 1: nested deeper than 64");
  const auto job = world.store.ObjectsOf(kKey)->job;
  EXPECT_EQ(job->unreadable, "watch event: line 1: nested deeper than 64");
  EXPECT_EQ(job->attempt, 3);
}

TEST(StoreSinkTest, APlacementThatIsEditedWrongKeepsItsNodes) {
  const auto decode = [](const Json& object, const api::Place&) {
    return Served(api::DecodePlacement, object);
  };
  World<api::Placement> world({decode, decode});
  Json placement = Json::parse(R"({
      "metadata": {"name": "x", "namespace": "ns", "uid": "u1", "resourceVersion": "1"},
      "spec": {"workers": 2, "accelerator": {"perWorker": 8}},
      "status": {"nodes": ["n0", "n1"]}})");
  world.Upsert(placement);
  placement["spec"]["parallelism"]["tensor"] = 3;
  placement["metadata"]["resourceVersion"] = "2";
  world.Upsert(placement);
  auto held = world.store.At<api::Placement>(kKey);
  EXPECT_NE(held->unreadable, "");
  EXPECT_EQ(held->nodes.size(), 2U);
  EXPECT_EQ(held->workers, 2U);
  EXPECT_EQ(held->accelerator.per_worker, 8U);
  placement["spec"].erase("parallelism");
  placement["metadata"]["resourceVersion"] = "3";
  world.Upsert(placement);
  EXPECT_EQ(world.store.At<api::Placement>(kKey)->unreadable, "");
}

TEST(StoreSinkTest, APodThatOurGuardsRefuseIsStillOnItsNode) {
  World<api::Pod> world({api::DecodePod, api::DecodePodHead});
  world.Refuse(Json::parse(R"({
      "metadata": {"name": "x", "namespace": "ns", "uid": "u1", "resourceVersion": "1"},
      "spec": {"nodeName": "n0"}, "status": {"phase": "Running"}})"),
               "not UTF-8, or a NUL byte");
  const auto inputs = world.store.TakeSnapshot().inputs;
  ASSERT_EQ(inputs.pods.size(), 1U);
  EXPECT_TRUE(inputs.pods[0].Holds());
  EXPECT_EQ(inputs.pods[0].unreadable, "not UTF-8, or a NUL byte");
}

TEST(StoreSinkTest, APriorityClassThatCannotBeReadStaysAsItWas) {
  World<api::PriorityClass> world({api::DecodePriorityClass, {}});
  Json object = {{"metadata", {{"name", "x"}, {"uid", "u"}, {"resourceVersion", "1"}}},
                 {"value", 7}};
  world.Upsert(object);
  object["value"] = "much";
  world.Upsert(object);
  ASSERT_EQ(world.store.TakeSnapshot().inputs.priority_classes.size(), 1U);
  EXPECT_EQ(world.store.TakeSnapshot().inputs.priority_classes.front().value, 7);
  EXPECT_EQ(world.unreadable.size(), 1U);
}

}  // namespace
}  // namespace weft::watch
