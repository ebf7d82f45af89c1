#include "tests/world/world.h"

#include <algorithm>
#include <array>
#include <utility>

#include "operator/base/check.h"
#include "operator/base/timestamp.h"
#include "operator/life/bind_window.h"
#include "tests/world/definitions.h"
#include "tests/world/faults.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

constexpr std::array<const char*, 3> kSpaces = {"team-a", "team-b", "team-c"};
constexpr const char* kCanary = "canary-7f31c9";
// 2026-01-01T00:00:00Z
constexpr WallMicros kEpoch = 1'767'225'600'000'000;
constexpr seconds kTick{1};
constexpr seconds kRelease{3};  // from SIGTERM to a Lease that nobody holds, whatever is in flight
// What began on the day, and what users have in mind for their jobs, ends within this.
constexpr seconds kLastFaults{1'300}, kLastEdits{2'500};
// At the end of the evening nothing but the Lease is written any more.
constexpr seconds kSettling{120}, kQuiet{480};
// Then the operators have opened them again.
constexpr seconds kWatchesBack{45};
// The collectors write so often at once, then they pause, so that everybody sees what is collected
// by half; longer after writes that were all refused.
constexpr std::uint64_t kMostCollected = 8;
constexpr std::uint64_t kLeastPauseMillis = 5, kMostPauseMillis = 200;
constexpr seconds kRefusedPause{5};
constexpr std::size_t kRecent = 60;
// 8 nodes a leaf, 4 leaves a spine.
constexpr std::size_t kLeaf = 8, kSpine = 32;

std::string Digits(std::size_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  return std::string(digits - std::min(digits, text.size()), '0') + text;
}

std::vector<Json> Definitions() {
  std::vector<Json> all = WeftDefinitions();
  for (Json& one : KueueDefinitions()) all.push_back(std::move(one));
  return all;
}

// Read once: they are large.
const std::vector<Json>& AllDefinitions() {
  static const std::vector<Json> all = Definitions();
  return all;
}

Json NodeOf(std::size_t number) {
  return {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata",
       {{"name", "node-" + Digits(number, 4)},
        {"labels",
         {{"kubernetes.io/hostname", "node-" + Digits(number, 4)},
          {"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
          {"example.com/leaf", "leaf-" + Digits(number / kLeaf, 3)},
          {"example.com/spine", "spine-" + Digits(number / kSpine, 2)}}}}},
      {"status",
       {{"allocatable",
         {{"cpu", "192"}, {"memory", "2061584302080"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}},
        {"capacity",
         {{"cpu", "192"}, {"memory", "2061584302080"}, {"pods", "110"}, {"nvidia.com/gpu", "8"}}},
        {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

Json FabricObject() {
  const auto level = [](const char* name, const char* label, int latency) {
    return Json{{"name", name},
                {"labelKey", label},
                {"identity", "Value"},
                {"link", {{"type", "InfiniBandNDR"}, {"latencyNanoseconds", latency}}}};
  };
  return {
      {"apiVersion", "weft.dev/v1alpha1"},
      {"kind", "Fabric"},
      {"metadata", {{"name", "default"}}},
      {"spec",
       {{"levels",
         {level("spine", "example.com/spine", 6'000), level("leaf", "example.com/leaf", 5'000)}},
        {"outside", {{"type", "InfiniBandNDR"}, {"latencyNanoseconds", 7'000}}},
        {"nodeLink", {{"type", "NVLink4"}}}}}};
}

// So many pods that have ended may stay: on half of the days as many as by default.
std::size_t ThresholdOf(std::uint64_t seed) {
  SplitMix64 chance(seed + 2);
  const std::uint64_t kind = chance.Below(4);
  if (kind < 2) return 12'500;
  return kind == 2 ? 1 + chance.Below(10) : 10 + chance.Below(100);
}

// Two replicas of the operator; on a tenth of the days three.
std::size_t OperatorsOf(const World::Options& options) {
  if (options.operators) return *options.operators;
  return SplitMix64(options.seed + 4).Below(10) == 0 ? 3 : 2;
}

std::size_t FaultsOf(const World::Options& options) {
  return options.faults - SplitMix64(options.seed + 5).Below(options.faults / 2 + 1);
}

// A few, so that days have few fibers; a large gang takes as many as by default.
std::uint32_t WritesAtOnce(const World::Options& options) { return options.large > 0 ? 16 : 4; }

// So long each worker of a gang takes to be created. A batch of writes is followed by others of the
// job, such as its status, which take as long again.
std::chrono::milliseconds PaceOf(const Weather& weather, std::uint32_t writes_at_once) {
  const auto fastest = std::chrono::milliseconds(1'000 / life::kCreatesPerSecond);
  return std::max(fastest, 2 * weather.most_delay / static_cast<int>(writes_at_once));
}

// How fast the network and the API server are when nothing is wrong.
Weather FairWeather(SplitMix64& chance) {
  Weather weather;
  weather.most_delay = Millis(std::array{2, 8, 40, 250}[chance.Below(4)]);
  weather.most_lag = Millis(std::array{5, 20, 200, 2'000}[chance.Below(4)]);
  return weather;
}

}  // namespace

World::World(Options options)
    : options_(std::move(options)),
      gates_(GatesOf(options_.gates, options_.seed)),
      chance_(options_.seed),
      fibers_(chance_.Next()),
      fair_(FairWeather(chance_)),
      weather_(fair_),
      server_({.definitions = AllDefinitions(),
               .now_seconds = [this] { return NowSeconds(); },
               .seed = chance_.Next(),
               .pod_groups = gates_.served}),
      watches_(fibers_, weather_, chance_.Next()),
      laws_(
          fibers_,
          {.each = PaceOf(fair_, WritesAtOnce(options_)), .canary = kCanary, .dates = HasDates()}),
      scheduler_(fibers_, server_, chance_.Next()),
      kubelets_(
          fibers_, server_, [this] { return NowSeconds(); }, chance_.Next()),
      garbage_(server_),
      namespaces_(server_),
      quotas_(server_),
      pod_collector_(server_, ThresholdOf(options_.seed)),
      protection_(server_),
      users_(fibers_, server_,
             {.spaces = {kSpaces.begin(), kSpaces.end()},
              .canary = kCanary,
              .most_replicas = std::max<std::size_t>(4, options_.nodes / 4),
              .whole = options_.whole ? options_.nodes : 0,
              .now_seconds = [this] { return NowSeconds(); },
              .dress =
                  [this](Json& job, std::size_t number) {
                    if (kueue_) kueue_->Dress(job, number);
                    DressGroups(job, number);
                  }},
             chance_.Next()),
      policies_(server_) {
  if (options_.kueue) {
    kueue_ = std::make_unique<KueueCluster>(
        fibers_, server_, laws_,
        KueueCluster::Options{.spaces = {kSpaces.begin(), kSpaces.end()},
                              .nodes = static_cast<std::int64_t>(options_.nodes),
                              .now_seconds = [this] { return NowSeconds(); },
                              .break_watches = [this](seconds time) { BreakWatches(time); },
                              .seed = chance_.Next()});
  }
  MakeStockJobs();
  GrantRights();
  MakeGates();
  server_.SetOnChange([this](const Change& change) { OnChange(change); });
  server_.SetAdmission([this](const ApiServer::Attempt& attempt) { return Admit(attempt); });
  server_.SetValidation([this](const auto& attempt) { return policies_.Validate(attempt); });
  for (std::size_t i = 0, count = OperatorsOf(options_); i < count; ++i) {
    hosts_.emplace_back();
    hosts_.back().name = "weft-" + std::to_string(i);
    // Clocks may be wrong by minutes.
    const auto off = static_cast<WallMicros>(chance_.Below(1'201)) - 600;
    const bool wrong = chance_.Below(2) == 1;
    hosts_.back().ahead = wrong ? off * 1'000'000 : 0;
  }
}

// On days with queues and on half of the others.
void World::MakeStockJobs() {
  SplitMix64 chance(options_.seed + 3);
  if (!kueue_ && chance.Below(2) == 0) return;
  stock_jobs_ =
      std::make_unique<StockJobs>(fibers_, server_,
                                  StockJobs::Options{.spaces = {kSpaces.begin(), kSpaces.end()},
                                                     .now_seconds = [this] { return NowSeconds(); },
                                                     .dress =
                                                         [this](Json& job, std::size_t number) {
                                                           if (kueue_)
                                                             kueue_->DressJob(job, number);
                                                         },
                                                     .seed = chance.Next()});
}

std::optional<kube::Response> World::Admit(const ApiServer::Attempt& attempt) {
  policies_.AddGate(attempt);
  Mutate(attempt);
  if (kueue_) {
    if (auto refusal = kueue_->Admit(attempt)) return refusal;
  }
  StripFinalizers(attempt);
  const auto refused = refused_.find(attempt.resource);
  if (refused == refused_.end() || attempt.before != nullptr) return std::nullopt;
  const auto until = refused->second.find(attempt.key.space);
  if (until == refused->second.end() || until->second <= fibers_.now()) return std::nullopt;
  if (refused_["failing"][attempt.key.space] > fibers_.now()) {
    return StatusAnswer(500, "InternalError",
                        "failed calling webhook \"policy.example.com\": timeout");
  }
  return StatusAnswer(403, "Forbidden",
                      "admission webhook \"policy.example.com\" denied the "
                      "request: not now");
}

World::~World() = default;

// Those of the chart, and the role `edit` for people. Controllers and "admin" may do everything.
void World::GrantRights() {
  const std::vector<std::string> spaces = {kSpaces.begin(), kSpaces.end()};
  server_.SetRights(kOperatorAccount, OperatorRights());
  server_.SetRights("researcher", EditRights(spaces));
  server_.SetRights("tenant", EditRights({kTenantSpace}));
}

// A policy of the cluster that means well.
void World::StripFinalizers(const ApiServer::Attempt& attempt) {
  if (attempt.resource != "trainingjobs.weft.dev" || attempt.object == nullptr) return;
  const auto until = strips_.find(attempt.key.space);
  const bool had =
      attempt.before != nullptr && !At(*attempt.before, {"metadata", "finalizers"}).empty();
  if (until == strips_.end() || until->second <= fibers_.now() || had) return;
  (*attempt.object)["metadata"].erase("finalizers");
}

std::int64_t World::NowSeconds() const {
  return kEpoch / 1'000'000 +
         std::chrono::duration_cast<seconds>(fibers_.now().time_since_epoch()).count();
}

std::string World::TimeText() const {
  const auto passed = std::chrono::duration_cast<Millis>(fibers_.now().time_since_epoch()).count();
  return std::to_string(passed / 1'000) + "." + Digits(static_cast<std::size_t>(passed % 1'000), 3);
}

void World::Say(const std::string& line) {
  const std::string told = TimeText() + " " + line;
  if (options_.log) options_.log(told);
  recent_.push_back(told);
  if (recent_.size() > 2 * kRecent) recent_.erase(recent_.begin(), recent_.begin() + kRecent);
}

void World::OnChange(const Change& change) {
  ++steps_;
  digest_.Mix(NameOf(change.type));
  digest_.Mix(change.resource);
  digest_.Mix(api::Show(change.key));
  digest_.Mix(change.version);
  digest_.Mix(static_cast<std::uint64_t>(fibers_.now().time_since_epoch().count()));
  digest_.MixJson(*change.object);
  if (options_.log || change.resource != "leases.coordination.k8s.io") {
    Say("#" + std::to_string(steps_) + " " + NameOf(change.type) + " " + change.resource + " " +
        api::Show(change.key) + " by " + change.user);
  }
  if (!options_.show.empty() && options_.log && api::Show(change.key).starts_with(options_.show)) {
    options_.log(change.object->dump());
  }
  if (options_.timeline != nullptr) options_.timeline->OnChange(change, fibers_.now());
  watches_.OnChange(change);
  laws_.OnChange(change);
  scheduler_.OnChange(change);
  kubelets_.OnChange(change);
  if (kueue_) kueue_->OnChange(change);
  if (stock_jobs_) stock_jobs_->OnChange(change);
  if (on_change_ && on_change_(change)) on_change_ = nullptr;
  const bool goes = change.type == Change::Type::kDeleted || IsDeleting(*change.object);
  if (goes || change.resource == "resourcequotas" || change.resource == "pods") CollectSoon();
}

void World::CollectSoon() {
  if (std::exchange(collects_, true)) return;
  fibers_.After(Millis(100 + chance_.Below(2'000)), [this] { Collect(); });
}

// A write of a collector that a webhook refuses is tried again later.
void World::Collect() {
  const std::uint64_t before = server_.version();
  for (std::uint64_t left = 1 + chance_.Below(kMostCollected); left > 0; --left) {
    const std::array wrote = {garbage_.Step(), namespaces_.Step(), quotas_.Step(),
                              protection_.Step(), pod_collector_.Step()};
    if (std::find(wrote.begin(), wrote.end(), true) != wrote.end()) continue;
    collects_ = false;
    return;
  }
  Instant::duration pause = kRefusedPause;
  if (server_.version() != before) {
    pause = Millis(kLeastPauseMillis + chance_.Below(kMostPauseMillis - kLeastPauseMillis + 1));
  }
  fibers_.After(pause, [this] { Collect(); });
}

void World::CollectPods() {
  pod_collector_.Look();
  CollectSoon();
  fibers_.After(PodCollector::kPeriod, [this] { CollectPods(); });
}

void World::BreakWatches(seconds time) {
  hard_until_ = std::max(hard_until_, fibers_.now() + time + kWatchesBack);
  weather_.no_watches = true;
  for (Host& host : hosts_) {
    if (host.now) host.now->WakeStreams();
  }
  fibers_.After(time, [this] { weather_.no_watches = false; });
}

void World::OnFault(std::size_t number, const std::string& what) {
  ++faults_seen_;
  if (options_.timeline != nullptr) options_.timeline->OnFault(what, fibers_.now());
  Say("FAULT " + std::to_string(number) + " " + what);
}

void World::MakeCluster() {
  Actor admin(server_, "admin");
  for (const char* space : {"weft-system", "kube-system", "other", "team-a", "team-b", "team-c"}) {
    admin.Create(kube::kNamespaces,
                 {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", space}}}});
  }
  admin.Create(kube::kPriorityClasses, {{"apiVersion", "scheduling.k8s.io/v1"},
                                        {"kind", "PriorityClass"},
                                        {"metadata", {{"name", "urgent"}}},
                                        {"value", 1'000'000}});
  admin.Create(kube::kFabrics, FabricObject());
  for (std::size_t i = 0; i < options_.nodes; ++i) {
    const Json node = NodeOf(i);
    admin.Create(kube::kNodes, node);
    admin.Patch(kube::kNodes, KeyOf(node), {{"status", node.at("status")}}, "status");
  }
  if (kueue_) kueue_->MakeQueues();
}

// A kubelet whose Node is unknown makes it again.
void World::JoinAgain(std::size_t node) {
  Actor kubelet(server_, "kubelet");
  const Json object = NodeOf(node);
  if (kubelet.Find(kube::kNodes, KeyOf(object)) || kubelets_.IsLost(KeyOf(object).name)) return;
  kubelet.Create(kube::kNodes, object);
  kubelet.Patch(kube::kNodes, KeyOf(object), {{"status", object.at("status")}}, "status");
}

void World::StartHost(Host& host) {
  Incarnation::Options options;
  options.flags.bind_deadline_seconds = 60;
  options.flags.node_loss_seconds = 60;
  options.flags.workers = 2;
  options.flags.writes_at_once = WritesAtOnce(options_);
  options.flags.kueue = options_.kueue;
  options.identity = host.name + "-" + std::to_string(++host.lives);
  options.epoch = kEpoch;
  options.ahead = host.ahead;
  options.seed = chance_.Next();
  options.verbose = options_.verbose;
  options.log = [this](const std::string& line) {
    if (line.find(kCanary) != line.npos) laws_.Break("I17", "a log tells a secret: " + line);
    const bool shown = options_.verbose || line.find(" error ") != line.npos;
    if (!options_.log || !shown) return;
    options_.log(TimeText() + " " + line.substr(0, line.size() - 1));
  };
  Wire::World world{
      fibers_, server_, weather_, watches_, [this](const Sent& sent) { OnSent(sent); }, nullptr};
  if (HasDates()) world.date = [this] { return NowSeconds(); };
  host.now = std::make_unique<Incarnation>(std::move(world), std::move(options));
  host.now->Start();
}

// As kubelets: what has ended is started again. Time passes for the laws.
void World::Guard() {
  if (over_) return;
  laws_.Tick(fibers_.now() < hard_until_);
  if (kueue_) kueue_->Tick(fibers_.now() < hard_until_);
  LookAtReplicas();
  for (Host& host : hosts_) {
    if (!host.now || !(host.now->ended() || host.now->killed())) continue;
    past_.push_back(std::move(host.now));
    fibers_.After(seconds(1 + chance_.Below(10)), [this, &host] {
      if (!over_ && !host.now) StartHost(host);
    });
  }
  std::erase_if(past_, [](const auto& one) {
    if (!one->ended()) return false;
    return true;
  });
  fibers_.After(kTick, [this] { Guard(); });
}

// A replica that is stopped releases its Lease, and no thread of a replica hangs.
void World::LookAtReplicas() {
  if (weather_.IsStormy()) stormy_ = std::max(stormy_, fibers_.now());
  for (const Host& host : hosts_) {
    if (!host.now || host.now->killed()) continue;
    const std::string& identity = host.now->identity();
    const bool ended = host.now->ended();
    if (!ended) {
      const auto stuck = host.now->replica().Stuck();
      if (stuck) laws_.Break("I6", identity + " is stuck: " + *stuck);
    }
    const auto stopped = stopped_.find(identity);
    if (stopped == stopped_.end() || host.now->lost() || stormy_ + 2 * kTick >= stopped->second) {
      continue;
    }
    if (!ended && fibers_.now() - stopped->second <= kRelease + kTick) continue;
    const auto lease = server_.Find("leases.coordination.k8s.io", {"weft-system", "weft-operator"});
    if (lease && TextAt(*lease, {"spec", "holderIdentity"}) == identity) {
      laws_.Break("I7", identity + " was stopped and has not released its Lease");
    }
  }
}

Incarnation* World::Leader() {
  for (Host& host : hosts_) {
    if (host.now && !host.now->ended() && !host.now->killed() && host.now->replica().leads()) {
      return host.now.get();
    }
  }
  return nullptr;
}

Incarnation* World::Find(const std::string& identity) {
  for (Host& host : hosts_) {
    if (host.now && host.now->identity() == identity) return host.now.get();
  }
  return nullptr;
}

void World::PlanDay() {
  if (options_.large > 0) {
    fibers_.After(seconds(60), [this] { users_.SubmitLarge(options_.large); });
  }
  const auto day = static_cast<std::uint64_t>(Millis(options_.day).count());
  for (std::size_t i = 0; i < options_.jobs; ++i) {
    const Millis at(chance_.Below(day));
    if (options_.without_jobs.contains(i)) continue;
    if (stock_jobs_ && i % 4 == 0) fibers_.After(at, [this, i] { stock_jobs_->Submit(i); });
    fibers_.After(at, [this, i] { users_.Submit(i); });
  }
}

void World::Play() {
  MakeCluster();
  for (Host& host : hosts_) StartHost(host);
  Guard();
  LookAtFigures();
  LookAtNeighbours();
  LookAtCachesByDay();
  CollectPods();
  PlanDay();
  Faults faults(*this, chance_.Next());
  const auto day = static_cast<std::uint64_t>(Millis(options_.day).count());
  for (std::size_t i = 0, count = FaultsOf(options_); i < count; ++i) {
    const Millis at(60'000 + chance_.Below(day));
    if (options_.without_faults.contains(i)) continue;
    fibers_.After(at, [&faults, i] { faults.Strike(i); });
  }
  const Instant evening = fibers_.now() + options_.day;
  fibers_.At(evening + kLastFaults, [this, &faults] {
    faults.EndAll();
    if (kueue_) kueue_->EndAll();
  });
  const Instant latest = evening + kLastEdits + options_.evening;
  end_ = latest + kQuiet;
  fibers_.At(evening + kLastEdits, [this, latest] { AwaitEnd(latest); });
  const auto stops = [&] {
    return !broken().empty() || (options_.until_step != 0 && steps_ > options_.until_step);
  };
  while (!stops() && fibers_.Step(end_)) {
  }
  if (!stops()) LookAtEvening();
  StopHosts();
}

bool World::AllEnded() const {
  if (stock_jobs_ && !stock_jobs_->AllEnded()) return false;
  const auto& jobs = server_.All("trainingjobs.weft.dev");
  return std::all_of(jobs.begin(), jobs.end(), [](const auto& one) {
    return IsTrue(*one.second, "Complete") || IsTrue(*one.second, "Failed");
  });
}

// The last minutes are for what must not happen at rest.
void World::AwaitEnd(Instant latest) {
  if (fibers_.now() < latest && !AllEnded()) {
    return fibers_.After(seconds(60), [this, latest] { AwaitEnd(latest); });
  }
  fibers_.After(kSettling, [this] { quiet_ = true; });
  end_ = fibers_.now() + kSettling + kQuiet;
}

void World::OnSent(const Sent& sent) {
  if (options_.timeline != nullptr) options_.timeline->OnSent(sent, fibers_.now());
  digest_.Mix(sent.machine);
  digest_.Mix(kube::NameOf(sent.request.method));
  digest_.Mix(sent.request.path);
  digest_.Mix(sent.request.body);
  digest_.Mix(static_cast<std::uint64_t>(sent.answer.status));
  laws_.OnSent(sent);
  if (on_write_ && on_write_(sent)) on_write_ = nullptr;
  if (!quiet_ || sent.request.method == kube::Method::kGet) return;
  if (ResourceOf(sent.request.path) == "leases.coordination.k8s.io") return;
  const Json body = sent.request.body.empty() ? Json() : Json::parse(sent.request.body);
  // A leader that looks at everything again may find it out then.
  if (TextAt(body, {"reason"}) == "PodGroupsUnused") return;
  // What is refused for good is tried again every five minutes.
  const std::string what = sent.request.path + " " + TextAt(body, {"metadata", "name"});
  if (sent.answer.status >= 400 && ++retries_[what] <= 2) return;
  laws_.Break("I6", sent.machine + " writes at rest: " + kube::NameOf(sent.request.method) + " " +
                        sent.request.path);
}

void World::StopHosts() {
  over_ = true;
  for (Host& host : hosts_) {
    if (host.now) host.now->Kill();
    if (host.now) past_.push_back(std::move(host.now));
  }
  // Requests under way give up after half a minute.
  for (int i = 0; i < 600 && fibers_.alive() > 0; ++i) {
    fibers_.RunUntil(fibers_.now() + seconds(1));
  }
  WEFT_CHECK(fibers_.alive() == 0);
  past_.clear();
}

// After the last fault everything ends or says why.
void World::LookAtEvening() {
  for (const Users::Expected& one : users_.expected()) {
    const auto job = server_.Find("trainingjobs.weft.dev", one.job);
    if (one.end.empty() && job && IsDeleting(*job)) {
      laws_.Break("I6", api::Show(one.job) + " is still being deleted");
    }
    if (one.end.empty() || !job || IsTrue(*job, one.end)) continue;
    if (IsTrue(*job, "Complete") || IsTrue(*job, "Failed")) continue;  // a fault's doing
    // Restored from a backup that was made before its edit was put right.
    if (NumberAt(*job, {"spec", "accelerator", "perWorker"}) == Users::kBadPerWorker) continue;
    laws_.Break("I6", api::Show(one.job) + " has not ended: " + At(*job, {"status"}).dump());
  }
  if (kueue_) kueue_->LookAtEvening(laws_);
  if (stock_jobs_) stock_jobs_->LookAtEvening(laws_);
  LookAtCaches();
}

}  // namespace weft::world
