#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operator/api/meta.h"
#include "operator/base/worker_index.h"

namespace weft::life {

// The attempt in the label of a pod or Placement; nothing if it has no such label.
std::optional<std::int64_t> AttemptLabel(const api::ObjectMeta& meta);
std::optional<WorkerIndex> WorkerLabel(const api::ObjectMeta& meta);

// Whether a Service or a ComputeDomain is of the job with that uid. Weft makes both without an
// owner reference, because the garbage collector deletes dependents at once when a job is deleted
// with foreground propagation, while workers still need them to store their state; the label names
// the job, and the operator deletes them when the pods are gone. Those of an earlier version have
// an owner.
bool IsOfJob(const api::ObjectMeta& meta, std::string_view uid);

}  // namespace weft::life
