#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// Where the API server serves PodGroups (api/pod_group.h), the pods of an attempt are in one: then
// kube-scheduler binds all of them, each to the node that it is pinned to, or none, and preempts
// for the gang as a whole.

// kube-scheduler 1.37.2 looks at all pods of a group that wait whenever one more is created, so its
// work grows with the square of their number: for 256 workers it costs a tenth of the time until
// they are bound, for 1,024 ten seconds of a core, for 16,384 most of an hour. Larger gangs are
// pinned only. Measured by tests/run.sh --campaign cluster.
inline constexpr std::uint32_t kPodGroupWorkersAtMost = 256;

// Whether pods of the job can be in a PodGroup that Weft makes: they are several and not too many,
// kube-scheduler itself binds them, none must be beside another one, and their template names no
// group.
bool MayJoinPodGroup(const api::TrainingJob& job);

// "<job>-<attempt>-weft-<4 characters>". The end is of the Placement's uid, for a PodGroup outlasts
// its Placement by the time that its pods take to end, and a later job may have the same name.
std::string PodGroupName(const Gang& gang);

// The PodGroup of the attempt, owned by its Placement: all workers at once, disrupted as one, with
// the priority of the pods, which kube-scheduler asks for.
nlohmann::json MakePodGroup(const Gang& gang);

// Puts the pod into the group gang.pod_group; "": changes nothing.
void JoinPodGroup(const Gang& gang, nlohmann::json& spec);

}  // namespace weft::launch
