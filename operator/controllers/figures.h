#pragma once

#include <cstdint>

#include "operator/base/timestamp.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/cluster.h"
#include "operator/metrics/samples.h"
#include "operator/report/audit.h"
#include "operator/report/fleet.h"

namespace weft::controllers {

// Add the samples of fabrics, jobs and gangs of other controllers, as the catalogue defines them.
void AddFabrics(const cluster::Cluster& cluster, const cluster::Fabrics& fabrics,
                std::uint32_t most_domains, metrics::Samples& samples);
void AddJobs(const cluster::Cluster& cluster, UnixSeconds now, metrics::Samples& samples);
void AddGangs(const cluster::Cluster& cluster, const report::AuditReport& report,
              metrics::Samples& samples);

}  // namespace weft::controllers
