#include "operator/controllers/job_counts.h"

#include "operator/api/kueue.h"
#include "operator/report/job_figures.h"

namespace weft::controllers {

using metrics::Id;

void CountEvents(const api::TrainingJob& before, const life::JobStatus& after,
                 const std::string& fabric, UnixSeconds now, metrics::Counters& counters) {
  const report::JobEvents events = report::EventsOf(before, after, now);
  const std::vector<std::string> team{before.meta.key.space,
                                      std::string(api::QueueOf(before.meta))};
  if (events.start) {
    counters.Add(Id::kLostAcceleratorSeconds, team, 0);  // a rate needs the value before the loss
    counters.Add(Id::kJobAttempts, {events.start->cause});
    counters.Observe(Id::kJobWaitSeconds, {fabric, report::SizeClass(before.replicas)},
                     events.start->wait_seconds);
  }
  if (events.loss) {
    counters.Add(Id::kJobLostAcceleratorSeconds, {events.loss->cause},
                 events.loss->accelerator_seconds);
    counters.Add(Id::kLostAcceleratorSeconds, team, events.loss->accelerator_seconds);
    if (events.loss->before_bound) counters.Add(Id::kBindRefusals, {events.loss->cause});
  }
  if (events.bind_seconds) counters.Observe(Id::kBindSeconds, {}, *events.bind_seconds);
  if (!events.ended.empty()) counters.Add(Id::kJobsEnded, {events.ended, events.end_reason});
}

}  // namespace weft::controllers
