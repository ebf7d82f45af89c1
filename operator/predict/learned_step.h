#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/result.h"
#include "operator/traffic/spec.h"

namespace weft::predict {

// One measured job that an entry counts.
struct CountedStep {
  std::string placement;  // "namespace/name" of the attempt that was measured
  std::string job_uid;    // "-" without a uid (a job from a file)
  double seconds = 0;     // measured
  double percent = 0;     // of the predicted step

  friend bool operator==(const CountedStep&, const CountedStep&) = default;
};

// One entry of the ConfigMap weft-learned-steps: what measured steps of one release, accelerator
// and precision have taught. People read it and may edit it:
//
//   percent: 118.40                        measured / predicted, geometric mean
//   observations: 3                        how much `percent` weighs against the next observation
//   lastObserved: 2026-11-23T10:15:00Z     "" or absent: unknown
//   counted:                               jobs that must not count again
//   - team-a/llama-1 9f1c5f2e-... 12.4 121.00
//
// Only `percent` is required; `observations` is 1 if absent. `counted` need not have all the
// observations: lines of deleted jobs are dropped, and an edit adds none.
struct LearnedStep {
  double percent = 100;
  std::uint32_t observations = 1;
  std::string last_observed;
  std::vector<CountedStep> counted;

  static constexpr double kLeast = 20, kMost = 500;  // of percent
  static constexpr std::uint32_t kMostObservations = 1'000'000'000;

  friend bool operator==(const LearnedStep&, const LearnedStep&) = default;
};

// Errors  kInvalid: "line 2: observations: \"many\" must be a whole number from 1 to 1000000000".
Result<LearnedStep> ParseLearnedStep(std::string_view text);
std::string ShowLearnedStep(const LearnedStep& step);

// The key of an entry: "megatron-core-0.15_H100_BF16"; "no-release_..." without a release. A
// character that a ConfigMap's key must not have becomes '-', and so does '_' within a part.
std::string LearnedStepKey(std::string_view release, std::string_view accelerator,
                           traffic::Precision precision);
// The entry of one namespace: "megatron-core-0.15_H100_BF16.team-a".
std::string LearnedStepKeyIn(std::string_view space, const std::string& key);
// "team-a"; "" if the entry is for all.
std::string_view SpaceOfLearnedStep(std::string_view key);

// Adds an observation to the mean: percent^(n / (n+1)) * observed^(1 / (n+1)).
void Add(const CountedStep& step, LearnedStep& entry);
// Takes one observation that the entry counts out of its mean. Precondition: observations > 1.
void Remove(std::size_t counted, LearnedStep& entry);
// The same job was measured again: percent * (new / old)^(1 / n).
void Replace(std::size_t counted, const CountedStep& step, LearnedStep& entry);

}  // namespace weft::predict
