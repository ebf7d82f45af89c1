#pragma once

#include <cstdint>
#include <optional>

#include "operator/life/fault.h"
#include "operator/life/life.h"

namespace weft::life {

// Who is to blame if a program fails about when a node of its gang does. The programs on the other
// nodes end within seconds of a node's loss, with any exit code, while the cluster reports the node
// only after its grace period (k8s.io/kubernetes, --node-monitor-grace-period: 50 s).

// How long before and after the failure of a program the node's own failure explains it.
inline constexpr std::int64_t kBlameBeforeSeconds = 120;
inline constexpr std::int64_t kBlameAfterSeconds = 60;

// The fault that is to blame for the end of an attempt, with the rule of failurePolicy that matches
// it. If a program failed, that is the first node of its gang that stopped to be Ready while its
// worker ran, or got a fatal condition of a health monitor, within this window; else the program
// that ended first. `created` as for FindFaults.
std::optional<Fault> FindFault(const Life& life, bool created);

// Seconds for which a job that this fault would end for good waits for news of its nodes: a worker
// that has not ended may be on a node that is lost. Nothing if there is nothing to wait for.
std::optional<std::int64_t> BlameLeft(const Life& life, const Fault& fault);

// While an attempt is being taken down for a program's failure: the node that is to blame after
// all; nothing if none is, or the failure has that cause already.
std::optional<Fault> BlameLate(const Life& life);

}  // namespace weft::life
