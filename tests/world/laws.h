#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/world/seen_cluster.h"
#include "tests/world/wire.h"

namespace weft::world {

// A law of operator/docs/reliability.md that was broken.
struct Violation {
  std::string law;  // "I3"
  std::string text;
  Instant at{};
};

// The numbers of "0-3,7".
std::set<std::int64_t> NumbersOf(const std::string& indexes);

// Whether a condition of the job tells that a write was refused, or has these words of the server.
bool Mentions(const Json& job, const std::string& words);

// The laws, over every change and every request of the operators. Laws of time have the same
// weight as the others: virtual time does not depend on the machine.
class Laws {
 public:
  struct Options {
    std::chrono::seconds window{150};    // a gang is partly bound at most so long, and for
    std::chrono::milliseconds each{10};  // each worker longer
    std::chrono::seconds visible{90};    // a job says why it does not start after at most so long
    std::string canary;                  // a secret that nothing may tell but a pod's spec
    bool dates = true;                   // the API server's answers have a Date
  };
  Laws(Fibers& fibers, Options options) : fibers_(fibers), options_(std::move(options)) {}

  void OnChange(const Change& change);
  void OnSent(const Sent& sent);
  // All objects are others at once: what is gone, and what there is now. In restore.cc.
  void OnRestore(const std::vector<Change>& all);
  // In group_laws.cc: whether all servers know PodGroups from now on; a bind request has failed.
  void OnGates(bool all_on);
  void OnFailedBind(const Json& pod);
  std::size_t grouped() const { return grouped_; }  // gangs in a PodGroup
  // Time has passed. `hard`: nothing can go on now, so laws of time wait.
  void Tick(bool hard);
  void Break(const std::string& law, const std::string& text);

  const std::vector<Violation>& broken() const { return broken_; }
  const SeenCluster& cluster() const { return cluster_; }
  std::size_t windows() const { return windows_; }

 private:
  void LookAtPod(const Change& change);
  void LookAtNewPod(const Json& pod);
  void LookAtOthers(const Json& pod);
  void LookAtTemplate(const Json& pod);
  void LookAtWindow(const Json& pod);
  void LookAtPlacement(const Change& change);
  void LookAtClaims(const Json& placement);
  void LookAtExclusion(const Json& placement);
  void LookAtTopology(const Json& placement);
  void LookAtJob(const Change& change);
  void LookAtSpeech(const Json& job);
  void LookAtSuccess(const Json& job);
  void LookAtEnd(const Json& job, const Json& before);
  void LookAtCounters(const Json& job, const Json& before);
  void LookAtLosses(const Json& job, const Json& before);  // in loss_laws.cc
  void LookAtDeparture(const Change& change);
  void LookAtService(const Json& job, const Json& before);
  void NoteRead(const std::string& machine, const std::string& resource);
  void LookAtWrite(const Sent& sent, const std::string& resource);
  void LookAtRate(const Sent& sent, const std::string& resource);
  void LookAtRefusal(const Sent& sent);
  void LookAtSecret(const Sent& sent, const std::string& resource);
  std::string JobOfWrite(const Json& body, const std::string& uid) const;
  void LookAtUntold(const Sent& sent, const std::string& resource, const std::string& uid);
  void ForgetUntold(const std::string& job, bool refused);  // refused: also those
  bool IsRefusedTooOften(const std::string& what, const std::string& body);
  bool CountsAsGone(const Json& pod) const;
  // In job_laws.cc.
  void LookAtHoldings(const Change& change);
  void LookAtRest(const std::string& uid);
  void LookAtFiles(const Json& service, const std::string& user);
  void LookAtFailure(const Json& job, const Json& before);
  void LookAtBlame(const Json& job, const Json& before);
  void LookAtTrial(const Json& job, const Json& before);
  void NoteTrial(const Sent& sent, const Json& body);
  void LookAtAdmission(const Json& job, const Json& before);
  void LookAtSelector(const Json& job, const Json& before);
  void LookAtKubelets(const Change& change);
  void LookAtTold(const std::string& job);
  // In end_laws.cc.
  void LookAtProgram(const Json& pod);
  void LookAtWhyFailed(const Json& job, const Json& before);
  void LookAtHaste(const Json& job, const Json& before);
  // It is broken if it waits for longer than that; not waiting ends it.
  void Await(const std::string& what, bool waits, Instant::duration longest, Violation broken);
  void TickAwaited(Instant::duration passed);

  Fibers& fibers_;
  const Options options_;
  SeenCluster cluster_;
  std::vector<Violation> broken_;
  using Gang = std::pair<std::string, std::int64_t>;
  bool IsPartlyBound(const Gang& gang);
  // In group_laws.cc.
  void LookAtGroup(const Change& change);
  void LookAtNewGroup(const Json& group, const std::string& placement);
  void LookAtLetGo(const Json& group, const std::string& placement);
  void LookAtGroupsEnd(const api::ObjectKey& key);
  void LookAtGroupsOf(const Json& placement);
  void LookAtPodInGroup(const Change& change);
  void LookAtSameGroup(const Json& pod);
  void LookAtHalfBound(const Gang& gang);
  void LookAtPreemption(const Json& job, const Gang& gang);
  void LookAtExcluded(const Json& job, const Json& before);
  void TickGroups();
  void Excuse(const Gang& gang);  // it may be partly bound
  Instant::duration WindowOf(const Gang& gang) const;
  std::map<Gang, std::set<std::int64_t>> bound_;      // workers that were ever bound
  std::map<Gang, std::set<std::int64_t>> succeeded_;  // workers whose program ended by itself
  std::map<Gang, std::vector<std::string>> planned_;
  std::map<std::string, Instant> refused_at_bind_;  // jobs, by uid: when last
  std::map<Gang, Instant::duration> open_;          // how long the gang is partly bound
  // The workers of gangs for which a pod was created, and when the last one went; max: it is there.
  std::map<std::pair<Gang, std::int64_t>, Instant> created_;
  struct Reader {
    std::set<std::string> kinds;
    Instant since{};  // when it read the last of them for the first time
  };
  std::map<std::string, Reader> readers_;             // by process
  std::map<std::string, Instant::duration> mute_;     // jobs that neither start nor say why
  std::map<std::string, std::deque<Instant>> times_;  // of requests, by what they ask
  struct Refused {
    std::vector<Instant> times;  // in a row
    std::string body;
  };
  std::map<std::string, Refused> refused_;                         // by what was asked
  std::map<std::string, std::pair<std::size_t, Instant>> failed_;  // in a row, and when last
  std::set<std::string> hot_;
  struct Untold {
    Instant first{}, last{};  // refusals in a row that no condition tells
    bool refused = false;     // else it failed
  };
  // By uid of the job, process, and what it asked.
  std::map<std::tuple<std::string, std::string, std::string>, Untold> untold_;
  struct Awaited {
    Instant::duration since{}, longest{};
    Violation broken;
  };
  std::map<std::string, Awaited> awaited_;
  std::set<std::string> warned_;   // uids of pods that have a Warning
  std::set<std::string> telling_;  // jobs to be looked at: all pods of one are, which takes time
  struct Trial {
    std::int64_t generation = 0;  // that the job had
    Json selector, tolerates;     // what admission made of them; null: it changed nothing
  };
  std::map<std::string, Trial> trials_;  // the last that was accepted, by uid of the job
  std::map<std::string, std::set<std::int64_t>> tried_;  // jobs' generations that had a dry run
  // Attempts in which a program failed or the start took too long, by uid of the job.
  std::map<std::string, std::set<std::int64_t>> program_failures_;
  std::map<std::string, std::vector<Json>> templates_;  // that a job has had, by uid
  std::string holder_;                                  // of the Lease
  std::string leader_;                   // who held it last; pods may be on their way
  std::map<std::string, Instant> held_;  // by holder: when it last held the Lease
  Instant ticked_{};
  Instant hard_since_ = Instant::max();          // when nothing could go on any more; max: it can
  std::map<std::string, std::string> leaf_;      // of each node
  std::set<api::ObjectKey> quotas_of_services_;  // ResourceQuotas that limit them
  bool gates_on_ = false;                        // all servers know PodGroups
  Instant gates_since_{};
  std::map<api::ObjectKey, std::shared_ptr<const Json>> groups_;
  std::map<api::ObjectKey, std::set<std::string>>
      in_group_;                        // uids of its pods that have not ended
  std::map<Gang, Instant> placed_;      // since when, of those that are
  std::map<Gang, Instant> gang_born_;   // its first pod
  std::set<Gang> excused_;              // what holds its pods together is not all there
  std::map<Gang, Instant> nominated_;   // since when kube-scheduler preempts for it
  std::map<Gang, Instant> half_bound_;  // partly bound since, and not excused
  std::map<std::string, std::set<std::string>> refused_pods_;  // nodes, by uid of the job
  std::size_t grouped_ = 0;
  std::size_t windows_ = 0;
};

}  // namespace weft::world
