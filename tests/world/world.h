#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/fabric/node_facts.h"
#include "tests/world/api_server.h"
#include "tests/world/collector.h"
#include "tests/world/digest.h"
#include "tests/world/fibers.h"
#include "tests/world/gates.h"
#include "tests/world/group_protection.h"
#include "tests/world/host.h"
#include "tests/world/kubelets.h"
#include "tests/world/kueue_cluster.h"
#include "tests/world/laws.h"
#include "tests/world/policies.h"
#include "tests/world/scheduler.h"
#include "tests/world/stock_jobs.h"
#include "tests/world/timeline.h"
#include "tests/world/users.h"
#include "tests/world/wire.h"

namespace weft::world {

// Objects of the API server as the operator's decoder reads them; for the law of caches.
struct ReadObjects {
  struct Pod {
    std::shared_ptr<const Json> object;
    std::string version;  // "" if it cannot be read
    std::string members;
  };
  struct Node {
    std::shared_ptr<const Json> object;
    std::optional<fabric::NodeFacts> facts;  // nothing: it cannot be read
  };
  std::map<api::ObjectKey, Pod> pods;
  std::map<api::ObjectKey, Node> nodes;
};

// A cluster with its control plane, operators, users and faults, in virtual time: the seed decides
// all of it.
class World {
 public:
  static constexpr const char* kTenantSpace = "team-c";  // where the user "tenant" has `edit`
  struct Options {
    std::uint64_t seed = 1;
    std::size_t nodes = 64;
    std::size_t jobs = 200;
    std::size_t faults = 100;              // at most: so many, or down to half of them, by chance
    std::size_t large = 0;                 // workers of one more job, which comes first; 0: none
    std::optional<std::size_t> operators;  // nothing: two, or three by chance
    std::chrono::seconds day{24 * 3'600};  // in which jobs and faults come
    std::chrono::seconds evening{4 * 3'600};  // after it, without either, everything ends
    std::uint64_t until_step = 0;             // stops at the change after it; 0: never
    std::set<std::size_t> without_faults, without_jobs;  // that do not come, by number of the day
    std::string show;         // prints objects whose "namespace/name" begins so; "": none
    bool kueue = false;       // jobs in queues, and Jobs of other controllers
    bool whole = false;       // some jobs need all nodes
    std::uint64_t gates = 0;  // who knows PodGroups (GatesOf)
    bool verbose = false;
    Timeline* timeline = nullptr;                      // draws the day; null: nothing
    std::function<void(const std::string& line)> log;  // null: none
  };
  explicit World(Options options);
  ~World();

  // Plays the day and the evening; stops at the first violation.
  void Play();

  const std::vector<Violation>& broken() const { return laws_.broken(); }
  // Equal for equal histories.
  std::uint64_t digest() const { return digest_.value(); }
  std::uint64_t steps() const { return steps_; }  // changes of objects
  std::size_t faults_seen() const { return faults_seen_; }
  std::size_t tenant_writes() const { return tenant_writes_; }  // whose effect was looked at
  const Laws& laws() const { return laws_; }
  const Gates& gates() const { return gates_; }  // as they are now
  Instant now() const { return fibers_.now(); }
  // The last changes, newest last.
  const std::vector<std::string>& recent() const { return recent_; }

 private:
  friend class Faults;
  struct Host {
    std::string name;
    WallMicros ahead = 0;
    std::unique_ptr<Incarnation> now;
    std::size_t lives = 0;
  };
  void Restore(std::uint64_t backup);  // in restore.cc
  void Repeat(const kube::Resource& resource, const Json& object, const Json& spec);
  void JoinAgain(std::size_t node);
  void StripFinalizers(const ApiServer::Attempt& attempt);
  void Mutate(const ApiServer::Attempt& attempt) const;  // in admission_faults.cc
  void MakeStockJobs();
  void GrantRights();
  std::optional<kube::Response> Admit(const ApiServer::Attempt& attempt);
  void MakeCluster();
  void PlanDay();
  void StartHost(Host& host);
  void Guard();
  void StopHosts();
  void OnChange(const Change& change);
  void Collect();
  void CollectSoon();
  void CollectPods();
  // In group_faults.cc.
  void MakeGates();
  void SetGates(const Gates& gates);
  void DressGroups(Json& job, std::size_t number);
  // All watches break, and none can be opened for so long.
  void BreakWatches(std::chrono::seconds time);
  void OnFault(std::size_t number, const std::string& what);
  void AwaitEnd(Instant latest);
  bool AllEnded() const;
  void OnSent(const Sent& sent);
  void LookAtEvening();
  void LookAtReplicas();
  // In cache_law.cc.
  void LookAtCaches();
  void LookAtCachesByDay();
  void LookAtFigures();     // in figures_law.cc
  void LookAtNeighbours();  // in tenant_law.cc
  Incarnation* Leader();
  Incarnation* Find(const std::string& identity);
  bool HasDates() const { return options_.seed % 4 != 0; }  // the API server's answers
  std::int64_t NowSeconds() const;
  std::string TimeText() const;
  void Say(const std::string& line);

  const Options options_;
  Gates gates_;
  SplitMix64 group_chance_{options_.seed + 1};  // of failed binds
  SplitMix64 tenant_chance_{options_.seed + 2};
  SplitMix64 chance_;
  Fibers fibers_;
  const Weather fair_;  // without faults
  Weather weather_;
  ApiServer server_;
  OpenWatches watches_;
  Laws laws_;
  Scheduler scheduler_;
  Kubelets kubelets_;
  GarbageCollector garbage_;
  NamespaceController namespaces_;
  QuotaController quotas_;
  PodCollector pod_collector_;
  GroupProtection protection_;
  Users users_;
  std::unique_ptr<KueueCluster> kueue_;    // null: without
  std::unique_ptr<StockJobs> stock_jobs_;  // the same
  std::vector<Host> hosts_;
  std::vector<std::unique_ptr<Incarnation>> past_;  // killed or ended, until their threads have
  Instant hard_until_{};                            // laws of time wait until then
  // Until when admission refuses new objects, by resource and namespace.
  std::map<std::string, std::map<std::string, Instant>> refused_;
  // Until when it takes finalizers off TrainingJobs, by namespace.
  std::map<std::string, Instant> strips_;
  // Webhooks that change new pods, by namespace.
  struct Mutation {
    Instant until{};
    bool selects = false;  // nodes, or else it tolerates a taint
  };
  std::map<std::string, Mutation> mutations_;
  bool collects_ = false;               // a pass of the collector is due
  bool quiet_ = false;                  // only the Lease may be written
  std::map<std::string, int> retries_;  // meanwhile, by path
  bool over_ = false;
  Instant end_{};
  Digest digest_;
  std::uint64_t steps_ = 0;
  std::size_t faults_seen_ = 0;
  std::size_t tenant_writes_ = 0;
  std::vector<std::string> recent_;
  // What faults wait for; true: not any more.
  std::function<bool(const Change& change)> on_change_;
  std::function<bool(const Sent& sent)> on_write_;
  std::map<std::string, Instant> stopped_;  // by SIGTERM, by identity: since when
  Instant stormy_{};  // until when a request could fail or a replica was frozen
  // What the leader knew otherwise than the API server.
  struct CacheLook {
    std::string leader;
    Instant at{};
    std::set<std::string> differ;
  } cache_look_;
  ReadObjects read_;         // at the last look
  const Policies policies_;  // of the chart
};

}  // namespace weft::world
