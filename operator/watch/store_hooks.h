#pragma once

#include <functional>

#include "operator/api/meta.h"

namespace weft::watch {

// Callbacks for changes, called without the store's lock in the thread that made the change.
struct StoreHooks {
  using OfObject = std::function<void(const api::ObjectKey&)>;
  OfObject on_job = [](const api::ObjectKey&) {};        // the job or an object it owns changed
  OfObject on_placement = [](const api::ObjectKey&) {};  // a Placement or pod of a foreign gang
  // Pods that ask for a Placement changed: their namespace and cluster::ForeignGang::base, "" if
  // they have no gang.
  OfObject on_gang = [](const api::ObjectKey&) {};
  // A Workload of Kueue, or something that its check depends on. Without a namespace: an
  // AdmissionCheck.
  OfObject on_workload = [](const api::ObjectKey&) {};
  OfObject on_decision = [](const api::ObjectKey&) {};   // any Placement changed
  OfObject on_pod_group = [](const api::ObjectKey&) {};  // a PodGroup changed
  std::function<void()> on_capacity = [] {};             // a new plan could differ
  std::function<void()> on_fabric = [] {};               // a Node or Fabric changed
};

}  // namespace weft::watch
