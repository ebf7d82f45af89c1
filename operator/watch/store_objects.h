#pragma once

#include <memory>
#include <string>
#include <tuple>
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
#include "operator/api/training_job.h"
#include "operator/api/volumes.h"
#include "operator/base/timestamp.h"
#include "operator/life/node_state.h"
#include "operator/watch/snapshot_map.h"
#include "operator/watch/table.h"

namespace weft::watch {

// What the store gives its readers: objects that belong together, at one moment.

// A Service that Weft created; its metadata names its job and attempt.
struct Service {
  api::ObjectMeta meta;
};

// One table for each kind.
template <typename... Kinds>
using TablesOf = std::tuple<ObjectTable<Kinds>...>;
using StoreTables =
    TablesOf<api::Node, api::Pod, api::TrainingJob, api::Placement, api::Fabric, api::PriorityClass,
             api::Namespace, Service, api::Workload, api::AdmissionCheck, api::ResourceFlavor,
             api::ConfigMap, api::ResourceSlice, api::ResourceClaim, api::ClaimTemplate,
             api::DeviceClass, api::PersistentVolume, api::VolumeClaim, api::StorageClass,
             api::CsiNode, api::PodGroup>;

// When this operator first saw that a node is not Ready.
struct NotReady {
  api::ObjectKey key;
  UnixSeconds since = 0;
};
inline const api::ObjectKey& KeyOf(const NotReady& node) { return node.key; }

// The nodes at one moment.
struct KnownNodes {
  SnapshotMap<api::Node>::Snapshot nodes;
  SnapshotMap<NotReady>::Snapshot not_ready;

  life::NodeState Of(const std::string& name) const;
};

// A job with all objects that belong to it, at one moment.
struct JobObjects {
  std::shared_ptr<const api::TrainingJob> job;
  std::vector<std::shared_ptr<const api::Placement>> placements;
  std::vector<std::shared_ptr<const api::Pod>> pods;
  std::shared_ptr<const Service> service;  // null: the job has none
  KnownNodes nodes;
  std::shared_ptr<const api::PodGroup> pod_group;  // of the present attempt's pods
  bool pod_groups_listed = false;                  // so that one that is missing is gone
  // Of Kueue: Workloads that the job controls, and what they may name.
  std::vector<std::shared_ptr<const api::Workload>> workloads;
  SnapshotMap<api::AdmissionCheck>::Snapshot checks;
  SnapshotMap<api::ResourceFlavor>::Snapshot flavors;
};

// A Workload of Kueue with all that its check depends on, at one moment.
struct WorkloadObjects {
  std::shared_ptr<const api::Workload> workload;
  std::vector<std::shared_ptr<const api::Placement>> placements;  // that it controls
  SnapshotMap<api::AdmissionCheck>::Snapshot checks;
  SnapshotMap<api::ResourceFlavor>::Snapshot flavors;
};

}  // namespace weft::watch
