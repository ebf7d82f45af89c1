#pragma once

#include <optional>
#include <string>

#include "operator/api/training_job.h"

namespace weft::life {

// The command and arguments of the container in the template, shortened if long; "the image's own
// command" if it has none.
std::string CommandOf(const api::TrainingJob& job, const std::string& container);

// The name of the container that has the job's accelerators (framework::WorkerContainer); "" if the
// template has none.
std::string WorkerContainerOf(const api::TrainingJob& job);

// What makes the kubelet start that container again by itself: "restartPolicyRules",
// "restartPolicy OnFailure"; "" if nothing does.
//
// Source  KEP-5307, Container Restart Policy, 2025.
std::string OwnRestartPolicyOf(const api::TrainingJob& job);

// A warning if the first container's command is another framework's launcher, or starts one process
// although a worker has several ranks. It names the command and what the framework expects. Nothing
// for a shell or an unknown program, which may start anything.
std::optional<std::string> WrongLauncher(const api::TrainingJob& job);

}  // namespace weft::life
