#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/base/timestamp.h"
#include "tests/world/actor.h"
#include "tests/world/fibers.h"

namespace weft::world {

// Researchers who apply TrainingJobs and change their minds.
class Users {
 public:
  static constexpr int kBadPerWorker = 3;  // of an edit that does not fit the job's template
  struct Options {
    std::vector<std::string> spaces;
    std::string canary;  // a secret in each job's environment
    std::uint64_t most_replicas = 16;
    std::uint64_t most_run_seconds = 1'800;
    std::uint64_t whole = 0;  // replicas of the jobs that need all nodes; 0: there are none
    std::function<UnixSeconds()> now_seconds;  // of the programs, for the times of checkpoints
    // Before a job is applied.
    std::function<void(Json& job, std::size_t number)> dress = [](Json&, std::size_t) {};
  };
  Users(Fibers& fibers, ApiServer& server, Options options, std::uint64_t seed);

  // Applies a job of some fate, and does to it what its fate says. The number decides all of it,
  // whichever others are applied.
  void Submit(std::size_t number);
  // Applies a job of so many workers, four to a node, that runs for ten minutes.
  void SubmitLarge(std::size_t workers);
  // Jobs that their authors expect to end by themselves.
  struct Expected {
    api::ObjectKey job;
    std::string end;  // "Complete" or "Failed"; "": deleted
  };
  const std::vector<Expected>& expected() const { return expected_; }
  // Whether its author deletes it.
  bool Deletes(const api::ObjectKey& job) const;

 private:
  Json JobOf(const std::string& space, const std::string& name);
  void Later(std::uint64_t most_seconds, std::function<void(const api::ObjectKey&)> act,
             const api::ObjectKey& job);
  void Suspend(const api::ObjectKey& job, bool suspend);
  void Delete(const api::ObjectKey& job, const char* propagation);
  // In a quarter of the worlds half of the jobs store their state and tell of it.
  void AddCheckpoints(const api::ObjectKey& key, Json& job);
  void TellCheckpoint(const api::ObjectKey& key, bool on_pod, int step);

  Fibers& fibers_;
  Actor api_;
  const Options options_;
  const std::uint64_t seed_;
  SplitMix64 chance_, saving_;
  bool saves_;
  std::vector<Expected> expected_;
};

}  // namespace weft::world
