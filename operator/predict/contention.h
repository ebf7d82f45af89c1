#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/predict/pace.h"

namespace weft::predict {

// How fast running jobs train that share uplinks: a speed of 1 is that of a job alone.
//
// A job alone sends bytes / alone over an uplink each second. If the jobs of an uplink want more
// than its rate, they share it max-min fairly, each GPU counting the same: the rate per GPU rises
// for all jobs alike, until a job has what it wants or one of its links is full. A job trains at
// the speed of its slowest link, and uses the others accordingly. Communication counts as spread
// over the step, so jobs slow each other down only where links are full on average.
//
// A job never gets less than its share of every link (Pace::shared), because the shares of all GPUs
// of a domain add up to its uplink.
//
// Source  Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2: progressive filling.
class Contention {
 public:
  explicit Contention(const Uplinks& uplinks);

  using Member = std::uint32_t;  // chosen by the caller, dense and small
  void Add(Member member, const Pace& pace);
  void Remove(Member member);

  // Computes the speeds again if an Add or a Remove may have changed one. Returns the members whose
  // speed is another than before, ascending.
  // Cost  O(links of the change) if no link is full; else O(sharing jobs x their links x fills).
  std::span<const Member> Update();
  double speed(Member member) const { return jobs_[member].speed; }
  // What crosses the link now, over its rate.
  double Load(std::uint32_t link) const;

 private:
  struct Use {
    std::uint32_t link;
    double rate;  // bytes/s of the job alone
  };
  struct Job {
    bool present = false;
    double speed = 1;
    double fair = 1;  // speed per byte/s of each GPU
    std::vector<Use> uses;
  };
  void Fill();

  const Uplinks& uplinks_;
  std::vector<Job> jobs_;             // by member
  std::vector<Member> sharing_;       // members with uses, ascending
  std::vector<double> wanted_;        // by link: bytes/s if all its jobs trained alone
  std::vector<std::uint32_t> users_;  // by link
  std::uint32_t overfull_ = 0;        // links that are wanted by more than their rate
  bool was_overfull_ = false, dirty_ = false;
  std::vector<Member> changed_;
};

}  // namespace weft::predict
