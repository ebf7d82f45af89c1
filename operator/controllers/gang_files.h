#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>

#include "operator/base/result.h"
#include "operator/controllers/api_writer.h"
#include "operator/controllers/pod_groups.h"
#include "operator/launch/gang.h"
#include "operator/watch/fabric_cache.h"
#include "operator/watch/store.h"

namespace weft::controllers {

// The gang of an attempt, and the ConfigMap that is mounted in its pods. Domains are looked up in
// the fabric, and the PodGroup is made, before the ConfigMap is created; afterwards they are read
// from it, so that a restarted operator gives missing pods the same values as the others.
// Thread-safety  all calls may run at once.
class GangFiles {
 public:
  // `verify_image`: image of the init container that reports from every pod; "": none.
  GangFiles(watch::Store& store, watch::FabricCache& fabrics, ApiWriter& writer,
            PodGroups& pod_groups, std::string verify_image)
      : store_(store),
        fabrics_(fabrics),
        writer_(writer),
        pod_groups_(pod_groups),
        verify_image_(std::move(verify_image)) {}

  // The gang of that Placement; it points to `job`. Creates the ConfigMap, and the ComputeDomain
  // and the ResourceClaimTemplate that the gang needs, if they do not exist. Errors  of the write;
  // kTransient if another object has such a name; kInvalid if the gang needs
  //         an object of which the API server does not know the kind.
  Result<launch::Gang> Of(const api::TrainingJob& job, const api::Placement& placement);

  // Deletes the ComputeDomain of the job's attempt, if it is the job's. With the Placement of a job
  // that has finished, also its Secret; without, the garbage collector does that, because the
  // Placement goes. The ConfigMap always goes with the Placement.
  // Errors  of the requests. What is gone already is deleted.
  Status Delete(const api::TrainingJob& job, const api::Placement* placement);

 private:
  void SetFabric(const api::Placement& placement, launch::Gang& gang);
  Status Record(launch::Gang& gang);
  Result<nlohmann::json> MakeRecord(launch::Gang& gang);
  Status MakeSecret(const launch::Gang& gang);
  Status MakeComputeDomain(const launch::Gang& gang);
  Status MakeClaimTemplate(const launch::Gang& gang);

  watch::Store& store_;
  watch::FabricCache& fabrics_;
  ApiWriter& writer_;
  PodGroups& pod_groups_;
  const std::string verify_image_;
};

}  // namespace weft::controllers
