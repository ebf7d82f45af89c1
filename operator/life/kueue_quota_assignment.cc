#include "operator/life/kueue_quota_assignment.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/encode_pod.h"
#include "operator/api/json_reader.h"
#include "operator/base/check.h"

namespace weft::life {
namespace {

using Json = nlohmann::json;

// Collects what is added to the pods; the first conflict is kept.
class Additions {
 public:
  void Add(const std::string& member, const std::string& key, const std::string& value,
           const std::string& from) {
    Json& there = all_[member];
    const auto found = there.find(key);
    if (found == there.end()) {
      there[key] = value;
    } else if (*found != value) {
      Refuse(member, key, value, from, found->get<std::string>());
    }
  }
  void Add(const std::string& member, const Json& texts, const std::string& from) {
    if (!texts.is_object()) return;
    for (const auto& [key, value] : texts.items()) {
      if (value.is_string()) Add(member, key, value.get<std::string>(), from);
    }
  }
  void Tolerate(const Json& tolerations) {
    if (!tolerations.is_array()) return;
    Json& there = all_["tolerations"];
    if (there.is_null()) there = Json::array();
    for (const Json& one : tolerations) {
      if (std::find(there.begin(), there.end(), one) == there.end()) there.push_back(one);
    }
  }
  void Refuse(const std::string& member, const std::string& key, const std::string& value,
              const std::string& from, const std::string& other) {
    if (!why_.empty()) return;
    why_ = from + " sets " + member + " " + key + " to " + value + ", which is " + other +
           " already; correct the template, the flavor or the check";
  }

  const Json& all() const { return all_; }
  const std::string& why() const { return why_; }

 private:
  Json all_ = Json::object();
  std::string why_;
};

void AddUpdates(const api::Workload& workload, Additions& additions) {
  if (!workload.checks_json) return;
  for (const Json& check : *workload.checks_json) {
    if (check.value("state", "") != "Ready") continue;
    const std::string from = "AdmissionCheck " + check.value("name", "");
    for (const Json& update : check.value("podSetUpdates", Json::array())) {
      if (update.value("name", "") != api::kWorkersPodSet) continue;
      for (const char* member : {"labels", "annotations", "nodeSelector"}) {
        additions.Add(member, update.value(member, Json()), from);
      }
      additions.Tolerate(update.value("tolerations", Json()));
    }
  }
}

Status AddFlavors(const api::PodSet& set, const QueueView& queue, Additions& additions) {
  for (const std::string& name : set.flavors) {
    const api::ResourceFlavor* flavor = queue.flavor(name);
    const std::string from = "ResourceFlavor " + name;
    if (flavor == nullptr) return Error{ErrorKind::kNotFound, from + " does not exist"};
    if (!flavor->topology_name.empty()) {
      return Invalid(from +
                     " has topologyName, with which Kueue itself chooses the nodes; queues of "
                     "TrainingJobs need flavors without it");
    }
    for (const auto& [key, value] : flavor->node_labels) {
      additions.Add("nodeSelector", key, value, from);
    }
    if (!flavor->tolerations.empty()) {
      additions.Tolerate(Json(api::EncodeTolerations(flavor->tolerations)));
    }
  }
  return {};
}

// The template's own values, which nothing may change.
void CheckTemplate(const api::TrainingJob& job, Additions& additions) {
  const auto selector = additions.all().find("nodeSelector");
  if (selector == additions.all().end()) return;
  for (const auto& [key, value] : selector->items()) {
    const auto own = job.pod.node_selector.find(key);
    if (own == job.pod.node_selector.end() || value == own->second) continue;
    additions.Refuse("nodeSelector", key, value.get<std::string>(), "the assigned flavor",
                     own->second);
  }
}

}  // namespace

api::Raw QueueOf(const api::TrainingJob& job) {
  if (!job.raw) return nullptr;
  const auto status = job.raw->find("status");
  if (status == job.raw->end() || !status->is_object()) return nullptr;
  const auto queue = status->find("queue");
  return queue == status->end() || queue->is_null() ? nullptr : api::MakeRaw(*queue);
}

Result<api::Raw> AssignmentOf(const api::TrainingJob& job, const api::Workload& workload,
                              const QueueView& queue) {
  WEFT_CHECK(workload.pod_sets.size() == 1);  // else it is outdated
  const api::PodSet& set = workload.pod_sets.front();
  if (set.count != job.replicas) {
    return Invalid("Kueue admitted " + std::to_string(set.count) + " of " +
                   std::to_string(job.replicas) +
                   " workers; Weft starts all workers of a job or none: remove minCount from the "
                   "Workload");
  }
  Additions additions;
  if (Status added = AddFlavors(set, queue, additions); !added) return added.error();
  AddUpdates(workload, additions);
  CheckTemplate(job, additions);
  if (!additions.why().empty()) return Invalid(additions.why());
  Json assigned = additions.all();
  assigned["name"] = workload.queue;
  assigned["clusterQueue"] = workload.cluster_queue;
  assigned["workload"] = workload.meta.key.name;
  return api::MakeRaw(assigned);
}

}  // namespace weft::life
