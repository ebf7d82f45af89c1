#pragma once

#include <cstdint>
#include <optional>

#include "operator/life/fault.h"
#include "operator/life/life.h"

namespace weft::life {

// Who is to blame if a program fails about when a node of its gang does. The programs on the other
// nodes end within seconds of a node's loss, with any exit code, while the cluster reports the node
// only after its grace period (LifeOptions::node_news_seconds).

// So long before the failure of a program a condition of a health monitor explains it; so long
// after it too, or LifeOptions::node_news_seconds if that is more.
inline constexpr std::int64_t kBlameBeforeSeconds = 120, kBlameAfterSeconds = 60;

// The fault that is to blame for the end of an attempt, with the rule of failurePolicy that matches
// it. If a program failed, that is the first node of its gang that is lost while its worker runs,
// or that got a fatal condition of a health monitor about then; else the program that ended first.
// What happens to pods while AwaitsBlame changes nothing. `created` as for FindFaults.
std::optional<Fault> FindFault(const Life& life, bool created);

// Whether status.lastFailure is a failure of the current attempt that has not been judged yet.
bool AwaitsBlame(const Life& life);

// Seconds for which a job that this fault would end for good waits for news of its nodes: a worker
// that has not ended may be on a node that is lost, and a monitor of GPUs may tell. Nothing if
// there is nothing to wait for.
std::optional<std::int64_t> BlameLeft(const Life& life, const Fault& fault);

// While an attempt is being taken down for a program's failure that was counted: the node that is
// to blame after all; nothing if none is.
std::optional<Fault> BlameLate(const Life& life);

}  // namespace weft::life
