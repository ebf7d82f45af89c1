// Compares the model of Kueue with a real manager: both get the same random life of Workloads, and
// after every round conditions, admission and checks of each Workload must be equal, and what each
// condition went through meanwhile.
//
//   kueue-faithful [--seed N] [--rounds N] [--lanes N] [--verbose]
//
// The real one is beside the API server of $KUBECONFIG. Exit code 1 after a difference.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "operator/api/json_text.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "operator/kube/requests.h"
#include "tests/world/kueue.h"
#include "tests/world/kueue_life.h"

namespace weft::world {
namespace {

using std::chrono::milliseconds;

struct FaithfulFlags {
  std::uint64_t seed = 1, rounds = 50, lanes = 16;
  bool verbose = false;
};

// What is compared of a Workload: no times, messages and uids.
Json PlainWorkload(const Json& workload) {
  if (workload.is_null()) return nullptr;
  Json plain = {{"active", At(workload, {"spec", "active"}) != Json(false)},
                {"deleting", IsDeleting(workload)},
                {"finalizers", At(workload, {"metadata", "finalizers"})},
                {"admission", At(workload, {"status", "admission"})}};
  for (const Json& one : At(workload, {"status", "conditions"})) {
    plain["conditions"][TextAt(one, {"type"})] =
        TextAt(one, {"status"}) + " " + TextAt(one, {"reason"});
  }
  for (const Json& one : At(workload, {"status", "admissionChecks"})) {
    plain["checks"][TextAt(one, {"name"})] = {{"state", TextAt(one, {"state"})},
                                              {"retries", NumberAt(one, {"retryCount"})},
                                              {"updates", At(one, {"podSetUpdates"})}};
  }
  const Json& requeue = At(workload, {"status", "requeueState"});
  plain["requeue"] = {{"count", NumberAt(requeue, {"count"})},
                      {"at", !At(requeue, {"requeueAt"}).is_null()}};
  return plain;
}

// When a queue is stopped, the manager's own cache may hear of it before or after it looks at the
// Workloads: then the scheduler's last reason stays.
void ForgetWhyPending(Json& model, Json& real) {
  for (Json* side : {&model, &real}) {
    if (TextAt(*side, {"conditions", "QuotaReserved"}).substr(0, 5) == "False") {
      (*side)["conditions"]["QuotaReserved"] = "False";
    }
  }
}

// One of the two worlds.
class KueueSide {
 public:
  virtual ~KueueSide() = default;
  virtual kube::Response Send(const kube::Request& request) = 0;
  virtual std::int64_t Now() const = 0;
  virtual Json Find(const kube::Resource& resource, const api::ObjectKey& key) = 0;
  // Lets it come to rest.
  virtual void Settle() = 0;
};

class ModelSide final : public KueueSide {
 public:
  explicit ModelSide(std::uint64_t seed)
      : fibers_(seed),
        server_({.definitions = KueueDefinitions(),
                 .now_seconds = [this] { return Now(); },
                 .seed = seed}),
        kueue_(fibers_, server_, {.now_seconds = [this] { return Now(); }, .seed = seed + 1}) {
    server_.SetOnChange([this](const Change& change) { kueue_.OnChange(change); });
    server_.SetAdmission([this](const auto& attempt) { return kueue_.Admit(attempt); });
  }
  kube::Response Send(const kube::Request& request) override {
    return server_.Handle(request, "test");
  }
  std::int64_t Now() const override {
    return 1'767'225'600 +
           std::chrono::duration_cast<std::chrono::seconds>(fibers_.now().time_since_epoch())
               .count();
  }
  Json Find(const kube::Resource& resource, const api::ObjectKey& key) override {
    const auto found = server_.Find(NameOf(resource), key);
    return found ? *found : Json();
  }
  void Settle() override { fibers_.RunUntil(fibers_.now() + std::chrono::seconds(30)); }

 private:
  Fibers fibers_;
  ApiServer server_;
  Kueue kueue_;
};

class RealSide final : public KueueSide {
 public:
  explicit RealSide(kube::Transport& transport) : transport_(transport) {}
  kube::Response Send(const kube::Request& request) override {
    for (int tries = 0;; ++tries) {
      auto answer = transport_.Send(request);
      if (answer && (answer->status != 500 || tries > 20)) return *std::move(answer);
      if (tries > 20) return {};
      std::this_thread::sleep_for(milliseconds(200));
    }
  }
  std::int64_t Now() const override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
  }
  Json Find(const kube::Resource& resource, const api::ObjectKey& key) override {
    if (resource.plural == kube::kWorkloads.plural) {
      const auto found = workloads_.find(key);
      return found == workloads_.end() ? Json() : found->second;
    }
    const kube::Response answer = Send(kube::GetRequest(resource, key));
    return answer.status == 200 ? api::ParseJson(answer.body) : Json();
  }
  // No Workload has changed for longer than a second, for which Kueue collects those that it tries
  // again, and none waits for its time. Nothing of two rounds has the same time.
  void Settle() override {
    const auto begun = std::chrono::steady_clock::now();
    auto changed = begun;
    std::string seen;
    for (;;) {
      std::this_thread::sleep_for(milliseconds(100));
      const std::string now = List();
      const auto at = std::chrono::steady_clock::now();
      if (now != seen || waits_) changed = at;
      seen = now;
      if (at - changed > milliseconds(1'400)) return;
      if (at - begun > std::chrono::seconds(20)) return;
    }
  }

 private:
  // The versions of all Workloads.
  std::string List() {
    kube::Request request;
    request.path = "/apis/kueue.x-k8s.io/v1beta2/workloads";
    const Json list = api::ParseJson(Send(request).body);
    std::string versions;
    workloads_.clear();
    waits_ = false;
    for (const Json& one : At(list, {"items"})) {
      versions += UidOf(one) + TextAt(one, {"metadata", "resourceVersion"});
      waits_ = waits_ || TimeAt(one, {"status", "requeueState", "requeueAt"}) >= Now();
      workloads_[KeyOf(one)] = one;
    }
    return versions;
  }

  kube::Transport& transport_;
  std::map<api::ObjectKey, Json> workloads_;
  bool waits_ = false;
};

class KueueComparison {
 public:
  KueueComparison(const FaithfulFlags& flags, kube::Transport& transport)
      : flags_(flags), model_(flags.seed), real_(transport) {
    for (std::uint64_t i = 0; i < flags.lanes; ++i) {
      const std::string name = "s" + std::to_string(flags.seed) + "-" + std::to_string(i);
      lanes_.emplace_back(name, flags.seed * 1'000 + i);
    }
  }

  bool Run() {
    bool same = true;
    for (const KueueLife& lane : lanes_) {
      for (const auto& action : lane.Begin()) same = Do(lane.lane(), action) && same;
    }
    Settle();
    for (std::uint64_t i = 0; i < flags_.rounds && same; ++i) {
      round_ = i;
      for (KueueLife& lane : lanes_) {
        const auto action = lane.Next(
            [this](const auto& resource, const auto& key) { return model_.Find(resource, key); });
        if (action.request != nullptr) same = Do(lane.lane(), action) && same;
      }
      Settle();
      // On a busy machine the manager may not be done yet; what differs for good stays.
      for (int looks = 0; looks < kMostLooks && !AreSame(); ++looks) real_.Settle();
      for (const KueueLife& lane : lanes_) same = Compare(lane) && same;
    }
    return same;
  }
  std::size_t actions() const { return actions_; }
  std::size_t compared() const { return compared_; }
  const std::map<std::string, std::size_t>& seen() const { return seen_; }

 private:
  void Settle() {
    model_.Settle();
    real_.Settle();
  }

  bool Do(const std::string& lane, const KueueLife::Action& action) {
    int status[2] = {0, 0};
    KueueSide* sides[2] = {&model_, &real_};
    std::string bodies[2];
    for (int i = 0; i < 2; ++i) {
      KueueSide& side = *sides[i];
      const auto request = action.request(
          [&](const auto& resource, const auto& key) { return side.Find(resource, key); },
          side.Now());
      if (!request) continue;
      const kube::Response answer = side.Send(*request);
      status[i] = answer.status;
      bodies[i] = answer.body;
    }
    ++actions_;
    if (flags_.verbose) std::printf("%zu: %s -> %d\n", round_, action.what.c_str(), status[0]);
    history_[lane] += "    round " + std::to_string(round_) + ": " + action.what + "\n";
    // A refusal may have another code: 422 of a rule of the schema, 403 of a webhook.
    if ((status[0] / 100 == 2) == (status[1] / 100 == 2)) return true;
    std::printf("DIFFERENCE in round %zu: %s: model %d %s, real %d %s\n", round_,
                action.what.c_str(), status[0], bodies[0].substr(0, 500).c_str(), status[1],
                bodies[1].substr(0, 500).c_str());
    return false;
  }

  std::pair<Json, Json> Both(const KueueLife& lane, const api::ObjectKey& key) {
    Json model = PlainWorkload(model_.Find(kube::kWorkloads, key));
    Json real = PlainWorkload(real_.Find(kube::kWorkloads, key));
    if (lane.stopped()) ForgetWhyPending(model, real);
    return {std::move(model), std::move(real)};
  }

  bool AreSame() {
    for (const KueueLife& lane : lanes_) {
      for (const api::ObjectKey& key : lane.workloads()) {
        const auto [model, real] = Both(lane, key);
        if (model != real) return false;
      }
    }
    return true;
  }

  // Tells what differs.
  bool Compare(const KueueLife& lane) {
    bool same = true;
    for (const api::ObjectKey& key : lane.workloads()) {
      const auto [model, real] = Both(lane, key);
      ++compared_;
      for (const auto& [type, words] : At(model, {"conditions"}).items()) {
        ++seen_[type + "=" + words.get<std::string>()];
      }
      if (model == real) continue;
      same = false;
      std::printf("DIFFERENCE after round %zu: %s\n  model %s\n  real  %s\n%s", round_,
                  api::Show(key).c_str(), model.dump().c_str(), real.dump().c_str(),
                  history_[key.space].c_str());
    }
    return same;
  }

  static constexpr int kMostLooks = 10;

  const FaithfulFlags flags_;
  ModelSide model_;
  RealSide real_;
  std::vector<KueueLife> lanes_;
  std::size_t round_ = 0, actions_ = 0, compared_ = 0;
  std::map<std::string, std::string> history_;  // by lane
  std::map<std::string, std::size_t> seen_;     // states of conditions, how often
};

int KueueMain(int count, char** arguments) {
  FaithfulFlags flags;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    const auto value = [&] { return i + 1 < count ? std::stoull(arguments[++i]) : 0; };
    if (name == "--seed") flags.seed = value();
    if (name == "--rounds") flags.rounds = value();
    if (name == "--lanes") flags.lanes = value();
    if (name == "--verbose") flags.verbose = true;
  }
  kube::UseThreads(2);
  const auto config = kube::LoadConfig({});
  if (!config) {
    std::fprintf(stderr, "kueue-faithful: %s\n", config.error().message.c_str());
    return 2;
  }
  const auto real = kube::MakeHttpTransport(*config, "kueue-faithful");
  KueueComparison comparison(flags, *real);
  const bool same = comparison.Run();
  std::printf("seed %llu: %zu actions, %zu states compared: %s\n",
              static_cast<unsigned long long>(flags.seed), comparison.actions(),
              comparison.compared(), same ? "the same" : "DIFFERENT");
  for (const auto& [state, times] : comparison.seen()) {
    std::printf("  %s: %zu\n", state.c_str(), times);
  }
  return same ? 0 : 1;
}

}  // namespace
}  // namespace weft::world

int main(int count, char** arguments) { return weft::world::KueueMain(count, arguments); }
