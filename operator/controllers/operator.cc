#include "operator/controllers/operator.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"

namespace weft::controllers {
namespace {

// While a gang starts, hundreds of its pods change, and one reconcile handles all of them: changes
// that follow each other this soon are handled together.
constexpr std::chrono::milliseconds kSettling{25};

// A change of one of its pods makes the operator look at all 16,384 pods of a job. After a
// reconcile that wrote nothing, its object rests this many times as long as the reconcile took: one
// object takes a tenth of a worker thread at most. No rest is longer than kMostRest, so nobody
// notices it.
constexpr int kRestTimes = 9;
constexpr std::chrono::milliseconds kMostRest{250};

// A reconcile that takes longer is logged with its object, because it occupies a worker thread.
constexpr std::chrono::duration<double> kLongPass{0.5};

Planner::Options WithAnswers(Planner::Options options, WorkQueue& queue) {
  options.on_answer = [&queue](const api::ObjectKey& job) { queue.Add(job); };
  return options;
}

JobController::Options WithGangs(JobController::Options options, GangFiles& files) {
  options.gang_of = [&files](const api::TrainingJob& job, const api::Placement& placement) {
    return files.Of(job, placement);
  };
  return options;
}

Result<Service> DecodeService(const nlohmann::json& object, const api::Place& place) {
  Result<api::ObjectMeta> meta = api::DecodeMetadata(object, place);
  if (!meta) return meta.error();
  return Service{*std::move(meta)};
}

// Decodes an object as the API server stored it.
template <auto kDecode>
auto Served(const nlohmann::json& object, const api::Place& place) {
  return kDecode(object, place, api::Reading::kServed);
}

// A sink together with its decoder.
template <typename T>
class Sink final : public kube::ObjectSink {
 public:
  Sink(const std::string& resource, const KindInStore<T>& kind, Store& store, Log& log,
       metrics::Counters* counters)
      : typed_(resource, kind, store, log, counters),
        decoding_(kServedPlace, kind.decode, typed_) {}
  void OnReplaceBegin() override { decoding_.OnReplaceBegin(); }
  void OnUpsert(const kube::ServedObject& object) override { decoding_.OnUpsert(object); }
  void OnDelete(const api::ObjectKey& key) override { decoding_.OnDelete(key); }
  void OnSynced(const std::string& version) override { decoding_.OnSynced(version); }
  std::vector<api::ObjectKey> HeldUpTo(const std::string& version) override {
    return decoding_.HeldUpTo(version);
  }

 private:
  StoreSink<T> typed_;
  kube::DecodingSink<T> decoding_;
};

}  // namespace

Operator::Operator(kube::Transport& transport, ApiWriter& writer, Recorder& recorder, Log& log,
                   Options options)
    : transport_(transport),
      log_(log),
      options_(std::move(options)),
      store_(options_.jobs.now),
      figures_(store_, cache_, options_.figures),
      files_(store_, cache_, writer, options_.verify_image),
      fabrics_(store_, cache_, writer, recorder, log, options_.fabrics),
      planner_(store_, cache_, writer, log, WithAnswers(options_.planner, queue_)),
      controller_(store_, writer, planner_, recorder, log, WithGangs(options_.jobs, files_)),
      placements_(store_, writer, recorder, log,
                  {options_.jobs.life, options_.jobs.now, options_.jobs.writes_at_once}) {
  store_.SetHooks(HooksOfStore());
  using manifest::Subject;
  Watch<api::Node>(kube::kNodes, Subject::kNode, {api::DecodeNode, api::DecodeNodeHead});
  Watch<api::Pod>(kube::kPods, Subject::kPod, {api::DecodePod, api::DecodePodHead});
  Watch<api::PriorityClass>(kube::kPriorityClasses, Subject::kWhole,
                            {api::DecodePriorityClass, {}});
  Watch<api::Namespace>(kube::kNamespaces, Subject::kWhole, {api::DecodeNamespace, {}});
  Watch<api::Fabric>(kube::kFabrics, Subject::kWhole,
                     {Served<api::DecodeFabric>, Served<api::DecodeFabric>});
  Watch<api::TrainingJob>(kube::kTrainingJobs, Subject::kWhole,
                          {Served<api::DecodeTrainingJob>, Served<api::DecodeTrainingJob>});
  Watch<api::Placement>(kube::kPlacements, Subject::kWhole,
                        {Served<api::DecodePlacement>, Served<api::DecodePlacement>});
  Watch<Service>(kube::kServices, Subject::kWhole, {DecodeService, {}}, life::kJobUidLabel);
}

// Jobs may be limited to one namespace, but objects that hold nodes are read in all namespaces.
template <typename T>
void Operator::Watch(const kube::Resource& resource, manifest::Subject subject,
                     const KindInStore<T>& kind, const std::string& labels) {
  const bool holds_nodes = std::is_same_v<T, api::Pod> || std::is_same_v<T, api::Placement>;
  watched_.emplace_back(resource.plural);
  sinks_.push_back(
      std::make_unique<Sink<T>>(watched_.back(), kind, store_, log_, options_.counters));
  kube::Reflector::Options watching;
  watching.watch.path = kube::PathOf(resource, {holds_nodes ? "" : options_.space, ""});
  if (!labels.empty()) watching.watch.query["labelSelector"] = labels;
  watching.watch.seed = options_.seed + sinks_.size();
  watching.subject = subject;
  watching.hooks = HooksOf(watched_.back());
  reflectors_.push_back(
      std::make_unique<kube::Reflector>(transport_, *sinks_.back(), std::move(watching)));
}

Operator::~Operator() { Stop(); }

Store::Picture Operator::Look() const {
  Store::Picture picture = store_.Look();
  decide::OrderAll(picture.inputs);
  return picture;
}

decide::Cluster Operator::LookAtCluster() {
  Store::Picture picture = Look();
  const auto fabrics = cache_.Of(picture);
  return decide::BuildCluster(std::move(picture.inputs), *fabrics);
}

// Every change that affects a figure calls one of these hooks.
StoreHooks Operator::HooksOfStore() {
  StoreHooks hooks;
  hooks.on_job = [this](const api::ObjectKey& job) {
    figures_.OnChange();
    queue_.AddAfter(job, kSettling);
  };
  hooks.on_placement = [this](const api::ObjectKey& placement) {
    const bool ours = options_.space.empty() || placement.space == options_.space;
    if (ours) gangs_.AddAfter(placement, kSettling);
  };
  hooks.on_decision = [this](const api::ObjectKey& key) {
    auto placement = store_.PlacementAt(key);
    placement ? decisions_->Put(std::move(placement)) : decisions_->Remove(key);
  };
  hooks.on_capacity = [this] {
    figures_.OnChange();
    planner_.OnCapacity();
  };
  hooks.on_fabric = [this] { fabrics_.OnChange(); };
  return hooks;
}

kube::ReflectorHooks Operator::HooksOf(const std::string& plural) {
  kube::ReflectorHooks hooks;
  hooks.on_failure = [this, plural](const std::string& what) {
    log_.Warning("watch failed", {{"resource", plural}, {"reason", what}});
  };
  if (options_.counters == nullptr) return hooks;
  hooks.on_restart = [this, plural] {
    options_.counters->Add(metrics::Id::kWatchRestarts, {plural});
  };
  hooks.on_lag = [this](Seconds lag) {
    options_.counters->Observe(metrics::Id::kEventLag, {}, lag.count());
  };
  return hooks;
}

void Operator::Measure(metrics::Samples& samples) const {
  using metrics::Id;
  samples.Add(Id::kSynced, {}, Synced() ? 1 : 0);
  samples.Add(Id::kQueueDepth, {"trainingjob"}, static_cast<double>(queue_.depth()));
  samples.Add(Id::kQueueDepth, {"placement"}, static_cast<double>(gangs_.depth()));
  for (std::size_t i = 0; i < reflectors_.size(); ++i) {
    const auto silence = static_cast<double>(reflectors_[i]->Staleness().count());
    samples.Add(Id::kWatchSilence, {watched_[i]}, silence / 1e3);
  }
}

bool Operator::Synced() const {
  return std::all_of(reflectors_.begin(), reflectors_.end(),
                     [](const auto& reflector) { return reflector->synced(); });
}

kube::Millis Operator::Staleness() const {
  kube::Millis most{0};
  for (const auto& reflector : reflectors_) most = std::max(most, reflector->Staleness());
  return most;
}

void Operator::Start() {
  for (const auto& reflector : reflectors_) reflector->Start();
  threads_.emplace_back([this] {
    while (!Synced()) {
      if (stopped_) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    log_.Info("synced");
    if (!options_.read_only) Work();
  });
}

void Operator::Work() {
  const Loop jobs{"trainingjob", queue_,
                  [this](const api::ObjectKey& key) { return controller_.Reconcile(key); }};
  const Loop gangs{"placement", gangs_,
                   [this](const api::ObjectKey& key) { return placements_.Reconcile(key); }};
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < options_.workers; ++i) {
    workers.emplace_back([&] { Reconcile(jobs); });
    workers.emplace_back([&] { Reconcile(gangs); });
  }
  workers.emplace_back([this] { fabrics_.Run(); });
  planner_.Run();
  for (std::thread& worker : workers) worker.join();
}

void Operator::Stop() {
  if (stopped_.exchange(true)) return;
  queue_.Close();
  gangs_.Close();
  planner_.Stop();
  fabrics_.Stop();
  for (const auto& reflector : reflectors_) reflector->Cancel();
  for (std::thread& thread : threads_) thread.join();
  for (const auto& reflector : reflectors_) reflector->Stop();
}

void Operator::Reconcile(const Loop& loop) {
  using Clock = std::chrono::steady_clock;
  while (const auto key = loop.queue.Take()) {
    const Clock::time_point start = Clock::now();
    const Result<Outcome> outcome = TryPass(loop.pass, *key);
    const Clock::duration took = Clock::now() - start;
    if (options_.counters != nullptr) {
      options_.counters->Observe(metrics::Id::kReconcileSeconds, {loop.name},
                                 Seconds(took).count());
    }
    if (took > kLongPass) {
      log_.Info("long reconcile", {{"controller", loop.name},
                                   {"object", api::Show(*key)},
                                   {"seconds", std::to_string(Seconds(took).count())}});
    }
    Settle(loop, *key, outcome, took);
  }
}

// One unusual object must not end the process.
Result<Outcome> Operator::TryPass(const Pass& pass, const api::ObjectKey& key) {
  try {
    return pass(key);
  } catch (const std::exception& bug) {
    return Error{ErrorKind::kInvalid, bug.what()};
  }
}

// Turns outcomes into queue operations; no other code does this.
void Operator::Settle(const Loop& loop, const api::ObjectKey& key, const Result<Outcome>& outcome,
                      WorkQueue::Duration took) {
  WorkQueue& queue = loop.queue;
  if (!outcome) {
    const ErrorKind kind = outcome.error().kind;
    if (kind != ErrorKind::kConflict && kind != ErrorKind::kNotFound) {
      log_.Warning("reconcile failed", {{"controller", loop.name},
                                        {"object", api::Show(key)},
                                        {"error", outcome.error().message}});
      if (options_.counters != nullptr) {
        options_.counters->Add(metrics::Id::kReconcileFailures, {loop.name});
      }
    }
    return queue.Done(
        key, kind == ErrorKind::kInvalid ? WorkQueue::End::kRefused : WorkQueue::End::kFailed);
  }
  const auto rest = std::min<WorkQueue::Duration>(took * kRestTimes, kMostRest);
  queue.Done(key, WorkQueue::End::kWell, outcome->waits ? rest : WorkQueue::Duration::zero());
  if (outcome->again) return queue.Add(key);
  if (outcome->seconds) queue.AddAfter(key, std::chrono::seconds(*outcome->seconds));
}

}  // namespace weft::controllers
