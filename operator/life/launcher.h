#pragma once

#include <optional>
#include <string>

#include "operator/api/kinds.h"

namespace weft::life {

// The container's command and arguments in the template, cut where they are long; "of the image"
// where it has none.
std::string CommandOf(const api::TrainingJob& job, const std::string& container);

// Where the command of the first container is another framework's launcher, or starts one process
// where a worker has several ranks: what it is, and what the framework expects. A shell or a
// program that is not known may be anything: nothing.
std::optional<std::string> WrongLauncher(const api::TrainingJob& job);

}  // namespace weft::life
