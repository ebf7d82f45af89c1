#pragma once

#include <string>

#include "operator/api/training_job.h"
#include "operator/life/job_status.h"
#include "operator/metrics/counters.h"

namespace weft::controllers {

// Counts the events that one written status of the job implies. `fabric`: the fabric of its nodes.
void CountEvents(const api::TrainingJob& before, const life::JobStatus& after,
                 const std::string& fabric, UnixSeconds now, metrics::Counters& counters);

}  // namespace weft::controllers
