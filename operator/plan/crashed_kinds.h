#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operator/base/timestamp.h"
#include "operator/cluster/workload.h"
#include "operator/plan/solver_crash.h"

namespace weft::plan {

// Remembers what the solver crashed on twice. A CronJob or another controller makes one object
// after the other, each with another uid and no record; without this each would end two leaders.
// An object of the same namespace that asks for the same (all of a spec that the solver reads,
// except the nodes of earlier attempts) is refused like the first one, without asking the solver.
// A Workload of Kueue asks for all its pod sets together: its record does not say on which of them
// the solver crashed, and others may have some of them too.
//
// It is filled from the status of objects that exist, and remembers them for an hour after they
// were refused last, because a controller may delete each object before it creates the next. An
// equal object that gets nodes ends it: the crash had to do with the rest of the cluster.
//
// One CrashedKinds serves plans of one version. The caller owns it.
// Cost           a lookup compares at most kMost small kinds.
// Thread-safety  none.
class CrashedKinds {
 public:
  static constexpr std::size_t kMost = 64;  // the one that was refused longest ago goes first
  static constexpr std::int64_t kKeepSeconds = 3'600;

  // Drops what was not refused for an hour.
  void DropBefore(UnixSeconds now);
  // What one workload asks for.
  struct Spec {
    std::uint32_t workers = 0;
    std::string fabric_name;
    api::Accelerator accelerator;
    std::optional<traffic::Model> model;
    traffic::Parallelism parallelism;
    api::TopologySpec topology;
    rules::PodRequirements pod;
  };
  // What an object asks for.
  struct Kind {
    CrashSubject subject;
    std::vector<Spec> parts;  // in any order
  };
  // `parts`: the workloads of one object, at least one.
  static Kind KindOf(std::span<const cluster::WorkloadView* const> parts);

  // The object is refused for its own crashes.
  void Add(Kind kind, UnixSeconds now);
  // The object got nodes.
  void Erase(const Kind& kind);

  // Another object that asked for the same: "TrainingJob ns/name"; nothing if there is none.
  std::optional<std::string> Find(const Kind& kind) const;

  std::size_t size() const { return kinds_.size(); }

 private:
  struct Entry {
    Kind kind;
    UnixSeconds at = 0;
  };

  std::list<Entry> kinds_;  // the last refused first
};

}  // namespace weft::plan
