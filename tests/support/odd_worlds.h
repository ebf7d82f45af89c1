#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace weft::testing {

// A TrainingJob, or a Placement of pods of others, in any state that the API server can hold: odd
// labels, huge attempts, missing fields, wrong times, objects of others. The bytes choose. Judged
// is the step that decide takes, and the life that follows where the cluster answers ideally.
//
// The law that is broken, in a sentence; "" where none is:
//   the same view gives the same step
//   no pod is created for an older attempt, for a worker that is there, or beyond the workers
//   nothing is deleted or evicted that is not the view's, or is being deleted already
//   a status changes something, fits the schema of crds/, and never goes back an attempt
//   the job comes to rest
std::string BrokenLawOfJob(std::span<const std::uint8_t> bytes);
std::string BrokenLawOfGang(std::span<const std::uint8_t> bytes);

}  // namespace weft::testing
