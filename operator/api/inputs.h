#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/config_map.h"
#include "operator/api/devices.h"
#include "operator/api/fabric.h"
#include "operator/api/kueue.h"
#include "operator/api/namespace.h"
#include "operator/api/node.h"
#include "operator/api/placement.h"
#include "operator/api/pod.h"
#include "operator/api/pod_group.h"
#include "operator/api/priority_class.h"
#include "operator/api/runtime_class.h"
#include "operator/api/training_job.h"
#include "operator/api/volumes.h"
#include "operator/base/shared_list.h"
#include "operator/fabric/spec.h"

namespace weft::api {

// All that a decision reads, in input order within each kind.
struct Inputs : DeviceInputs, KueueInputs, VolumeInputs {
  SharedList<Node> nodes;
  SharedList<Pod> pods;
  std::vector<PriorityClass> priority_classes;
  std::map<ObjectKey, std::int64_t> least_members;  // of PodGroups of other schedulers
  std::vector<RuntimeClass> runtime_classes;
  SharedList<PodGroup> pod_groups;
  std::vector<Namespace> namespaces;
  std::vector<Fabric> fabrics;
  SharedList<TrainingJob> jobs;
  SharedList<Placement> placements;
  // TrainingJobs and Placements in the order in which they were read.
  struct OrderEntry {
    bool is_job = true;
    std::size_t index = 0;
  };
  std::vector<OrderEntry> order;
  std::vector<std::string> notes;  // unknown kinds that were ignored, each once
  struct Ignored {
    std::size_t count = 0;  // objects
    std::size_t note = 0;   // index into `notes`
  };
  std::map<std::string, Ignored> ignored;  // by kind and apiVersion, while objects are read
  // Added to every Fabric, and looked up before its own.
  std::vector<fabric::AcceleratorSpec> accelerators;
  // Resources of jobs that are not among `jobs`, which count as accelerators too.
  std::vector<std::string> accelerator_resources;
  // Resources that the operator's settings name as accelerators.
  std::vector<std::string> accelerator_settings;
  std::optional<ConfigMap> learned_steps;  // kLearnedSteps; other ConfigMaps are ignored
};

}  // namespace weft::api
