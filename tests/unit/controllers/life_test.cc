// The operator without threads over a fake API server, through whole lives of a job: once without
// a fault, and once for each of its requests with that one failing, before it is carried out and
// after. A new operator then goes on from what the API server holds, and the end is the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/unit/controllers/leader.h"

namespace weft::controllers {
namespace {

const api::ObjectKey kGang{"ns", "gang"};

class World {
 public:
  World() {
    api.watch = [this](Kind kind, const api::ObjectKey& key, const Json& object) {
      news_.push_back({kind, key, object});
    };
  }

  // What users, schedulers and kubelets do meanwhile.
  bool scheduler_binds = true;
  std::string pods_are = "Running";
  UnixSeconds now = kStart;
  FakeApi api{[this] { return now; }};
  Events events;
  int leaders = 0;

  // Until everybody rests; time goes on where somebody waits for it. False: no rest was found.
  bool Run() {
    int quiet = 0;  // rounds; the planner hears in the next one of what asked it in this
    for (int round = 0; round < 400; ++round) {
      const std::size_t requests = api.requests;
      const bool moved = Act();
      const std::optional<std::int64_t> wait = Reconcile();
      const bool rests = !moved && news_.empty() && !again_ && api.requests == requests;
      quiet = rests ? quiet + 1 : 0;
      if (quiet < 2) continue;
      if (!wait || *wait > kLongestWait) return true;
      now += std::max<std::int64_t>(1, *wait);
      quiet = 0;
    }
    return false;
  }

 private:
  struct News {
    Kind kind;
    api::ObjectKey key;
    Json object;
  };
  // The deadlines of a job that is well (startup, deadline) are no waits.
  static constexpr std::int64_t kLongestWait = 400;

  std::optional<std::int64_t> Reconcile() {
    if (!leader_) {
      news_.clear();
      leader_ = std::make_unique<Leader>(api, now, events);
      ++leaders;
    }
    again_ = false;
    for (; !news_.empty(); news_.pop_front()) {
      leader_->See(news_.front().kind, news_.front().key, news_.front().object);
    }
    const std::size_t before = api.requests;
    leader_->planner.Pass();
    std::optional<std::int64_t> wait;
    bool failed = Failed(before);
    for (const auto& outcome : {leader_->jobs.Reconcile(kJob), leader_->gangs.Reconcile(kGang)}) {
      failed = failed || Failed(before);
      if (!outcome) {
        again_ = true;
      } else if (outcome->again) {
        again_ = true;
      } else if (outcome->seconds) {
        wait = std::min(wait.value_or(*outcome->seconds), *outcome->seconds);
      }
    }
    if (failed) leader_.reset();  // it crashed at that request
    again_ = again_ || failed;
    return wait;
  }
  bool Failed(std::size_t before) const {
    return api.fault != FakeApi::Fault::kNone && before < api.fail_at &&
           api.fail_at <= api.requests;
  }

  // kube-scheduler and the kubelets, for every pod. Whether anything changed.
  bool Act() {
    const std::size_t before = news_.size();
    std::vector<std::pair<std::string, Json>> pods;
    for (const auto& [key, object] : api.objects()) {
      if (std::get<0>(key) == Kind::kPod) pods.emplace_back(std::get<2>(key), object);
    }
    for (const auto& [name, pod] : pods) {
      if (pod["metadata"].contains("deletionTimestamp")) {
        api.EndDeletion(name);
      } else if (!pod["spec"].value("schedulingGates", Json::array()).empty()) {
        continue;
      } else if (!pod["spec"].contains("nodeName")) {
        if (scheduler_binds) Bind(name, pod);
      } else if (pod["status"]["phase"] == "Pending" || pod["status"]["phase"] == "Running") {
        api.Edit(Kind::kPod, name, [this](Json& object) {
          object["status"]["phase"] = pods_are;
          object["status"]["conditions"] = Json::array(
              {{{"type", "Ready"}, {"status", pods_are == "Running" ? "True" : "False"}}});
        });
      }
    }
    return news_.size() != before;
  }
  void Bind(const std::string& name, const Json& pod) {
    const Json& term =
        pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
           ["nodeSelectorTerms"][0]["matchFields"][0];
    api.Edit(Kind::kPod, name,
             [&](Json& object) { object["spec"]["nodeName"] = term["values"][0]; });
  }

  std::deque<News> news_;
  bool again_ = false;
  std::unique_ptr<Leader> leader_;
};

// What stands in the end, without what a new try changes.
Json Told(const World& world) {
  Json told = {{"counts", world.api.counts}};
  for (const auto& [key, object] : world.api.objects()) {
    Json& one = told["objects"][std::string(KindWord(std::get<0>(key))) + " " + std::get<2>(key)];
    one = Json::object();
    const Json status = object.value("status", Json::object());
    for (const char* part : {"phase", "attempt", "restarts", "placementName", "nodes", "workers"}) {
      if (status.contains(part)) one[part] = status[part];
    }
    for (const Json& condition : status.value("conditions", Json::array())) {
      one["conditions"][condition.value("type", "")] =
          condition.value("status", "") + " " + condition.value("reason", "");
    }
    if (std::get<0>(key) == Kind::kPod) one["node"] = object["spec"].value("nodeName", "");
  }
  return told;
}

// A life: what is seen at each of its rests.
using Life = Json (*)(World&);

Json Rest(World& world) {
  if (!world.Run()) return {{"no rest", Told(world)}};
  return Told(world);
}

// Accepted, placed, bound, ready; a worker fails and the gang restarts; complete; deleted.
template <int kMPI>
Json WholeLife(World& world) {
  Json seen = Json::array();
  world.api.Apply(Kind::kTrainingJob, JobObject(kMPI != 0 ? "MPI" : "Torch"));
  seen.push_back(Rest(world));
  world.api.Edit(Kind::kPod, "llama-1-1", [](Json& pod) { pod["status"]["phase"] = "Failed"; });
  seen.push_back(Rest(world));
  world.pods_are = "Succeeded";
  seen.push_back(Rest(world));
  world.api.DeleteByUser(Kind::kTrainingJob, "llama");
  seen.push_back(Rest(world));
  return seen;
}

// kube-scheduler never answers at first; then the job is suspended, resumed, and deleted as it
// runs.
Json SuspendedLife(World& world) {
  Json seen = Json::array();
  world.api.Apply(Kind::kTrainingJob, JobObject("Torch"));
  seen.push_back(Rest(world));
  for (const bool suspend : {true, false}) {
    world.api.Edit(Kind::kTrainingJob, "llama",
                   [&](Json& job) { job["spec"]["suspend"] = suspend; });
    seen.push_back(Rest(world));
  }
  world.api.DeleteByUser(Kind::kTrainingJob, "llama");
  seen.push_back(Rest(world));
  return seen;
}

// Pods of others behind the gate, placed and let go.
Json LifeOfOthers(World& world) {
  world.api.Apply(Kind::kPlacement, Json::parse(R"({
      "apiVersion": "weft.dev/v1alpha1", "kind": "Placement",
      "metadata": {"name": "gang", "namespace": "ns"},
      "spec": {"workers": 2, "accelerator": {"perWorker": 8},
               "podSelector": {"matchLabels": {"app": "x"}}}})"));
  for (const char* name : {"p-0", "p-1"}) {
    Json pod = Json::parse(R"({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "ns", "labels": {"app": "x"}},
        "spec": {"schedulingGates": [{"name": "weft.dev/placement"}],
                 "containers": [{"name": "c", "resources": {"limits": {"nvidia.com/gpu": 8}}}]}})");
    pod["metadata"]["name"] = name;
    world.api.Apply(Kind::kPod, std::move(pod));
  }
  Json seen = Json::array({Rest(world)});
  world.pods_are = "Succeeded";
  seen.push_back(Rest(world));
  return seen;
}

struct Case {
  const char* name;
  Life life;
};

class LifeTest : public ::testing::TestWithParam<Case> {};

TEST_P(LifeTest, EndsTheSameWhicheverRequestFails) {
  World world;
  const Json want = GetParam().life(world);
  const std::size_t requests = world.api.requests;
  ASSERT_EQ(want.dump().find("no rest"), std::string::npos) << want.dump(1);
  ASSERT_GE(requests, 5U);
  for (const auto fault : {FakeApi::Fault::kNotCarriedOut, FakeApi::Fault::kReplyLost}) {
    for (std::size_t n = 1; n <= requests; ++n) {
      World other;
      other.api.fail_at = n;
      other.api.fault = fault;
      const Json seen = GetParam().life(other);
      ASSERT_EQ(other.leaders, 2) << "request " << n << " did not fail";
      ASSERT_EQ(seen, want) << "request " << n << " of " << requests << " failed, "
                            << (fault == FakeApi::Fault::kReplyLost ? "its reply lost" : "undone")
                            << "\n"
                            << Json::diff(want, seen).dump(1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, LifeTest,
                         ::testing::Values(Case{"AJob", WholeLife<0>},
                                           Case{"AJobOfMPI", WholeLife<1>},
                                           Case{"AJobThatIsSuspendedAndDeleted", SuspendedLife},
                                           Case{"PodsOfOthers", LifeOfOthers}),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(LifeTest, AJobLeavesNothingBehind) {
  World world;
  WholeLife<1>(world);
  EXPECT_TRUE(world.api.objects().empty());
  EXPECT_EQ(world.api.counts, (std::map<std::string, int>{{"create ConfigMap", 2},
                                                          {"create Placement", 2},
                                                          {"create Pod", 6},
                                                          {"create Secret", 2},
                                                          {"create Service", 2},
                                                          {"delete Placement", 2},
                                                          {"delete Pod", 6},
                                                          {"delete Secret", 1},
                                                          {"delete Service", 2},
                                                          {"delete TrainingJob", 1}}));
}

}  // namespace
}  // namespace weft::controllers
