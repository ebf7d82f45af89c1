#include "tests/world/policies.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "tests/world/actor.h"
#include "tests/world/answer.h"
#include "tests/world/rights.h"

namespace weft::world {
namespace {

constexpr const char* kOwnSpace = "weft-system";
constexpr const char* kGate = "weft.dev/placement";
constexpr const char* kJobUidLabel = "weft.dev/job-uid";
constexpr const char* kJobNameLabel = "weft.dev/job-name";
constexpr const char* kClaims = "weft.dev/claims";
constexpr const char* kEnforce = "pod-security.kubernetes.io/enforce";
// Of Pod Security baseline, and IPC_LOCK.
constexpr std::array<std::string_view, 14> kCapabilities = {
    "AUDIT_WRITE", "CHOWN",   "DAC_OVERRIDE", "FOWNER",           "FSETID",
    "IPC_LOCK",    "KILL",    "MKNOD",        "NET_BIND_SERVICE", "SETFCAP",
    "SETGID",      "SETPCAP", "SETUID",       "SYS_CHROOT"};

enum class Verb : std::uint8_t { kCreate, kUpdate, kDelete };

// A request as a policy sees it.
struct Asked {
  const ApiServer::Attempt& attempt;
  const ApiServer& server;
  Verb operation;

  const Json& object() const { return *attempt.object; }
  const Json& before() const { return *attempt.before; }
  // What a policy calls `object == null ? oldObject : object`.
  const Json& any() const { return attempt.object ? *attempt.object : *attempt.before; }
  const std::string& space() const { return attempt.key.space; }
  bool Keeps(std::initializer_list<const char*> path) const {
    return At(object(), path) == At(before(), path);
  }
};

// Why a policy denies the request; "": it does not.
using Message = std::string;

const Json& Owners(const Json& object) { return At(object, {"metadata", "ownerReferences"}); }

bool IsOfGroup(const Json& owner, const char* group) {
  return TextAt(owner, {"apiVersion"}).starts_with(std::string(group) + "/");
}

bool IsController(const Json& owner) { return At(owner, {"controller"}) == true; }

bool IsTrainingJob(const Json& owner) {
  return TextAt(owner, {"kind"}) == "TrainingJob" && IsOfGroup(owner, "weft.dev");
}

bool HasLabel(const Json& object, const char* name) {
  return At(object, {"metadata", "labels"}).contains(name);
}

bool HasGate(const Json& pod, const std::string& name) {
  const Json& gates = At(pod, {"spec", "schedulingGates"});
  return std::any_of(gates.begin(), gates.end(),
                     [&](const Json& gate) { return TextAt(gate, {"name"}) == name; });
}

bool IsModest(const Json& container) {
  const Json& context = At(container, {"securityContext"});
  const std::string mount = TextAt(context, {"procMount"});
  const Json& ports = At(container, {"ports"});
  const Json& added = At(context, {"capabilities", "add"});
  return At(context, {"privileged"}) != true &&
         At(context, {"windowsOptions", "hostProcess"}) != true &&
         (mount.empty() || mount == "Default") &&
         std::all_of(ports.begin(), ports.end(),
                     [](const Json& port) { return NumberAt(port, {"hostPort"}) == 0; }) &&
         std::all_of(added.begin(), added.end(), [](const Json& one) {
           const auto& name = one.get_ref<const std::string&>();
           return std::find(kCapabilities.begin(), kCapabilities.end(), name) !=
                  kCapabilities.end();
         });
}

Message OfHostAccess(const Asked& asked) {
  const auto space = asked.server.Find("namespaces", {"", asked.space()});
  if (space && LabelOf(*space, kEnforce) == "privileged") return "";
  const Json& spec = At(asked.object(), {"spec"});
  std::string who;
  for (const char* field : {"hostNetwork", "hostPID", "hostIPC"}) {
    if (At(spec, {field}) == true) who = "pods use hostNetwork, hostPID or hostIPC";
  }
  for (const Json& volume : At(spec, {"volumes"})) {
    if (who.empty() && volume.contains("hostPath")) who = "pods mount a hostPath volume";
  }
  bool modest = At(spec, {"securityContext", "windowsOptions", "hostProcess"}) != true;
  for (const char* containers : {"containers", "initContainers"}) {
    for (const Json& container : At(spec, {containers})) modest = modest && IsModest(container);
  }
  if (who.empty() && !modest) {
    who =
        "containers are privileged, have a hostPort or add capabilities other than those of Pod "
        "Security baseline and IPC_LOCK";
  }
  if (who.empty()) return "";
  return "a job whose " + who + " needs its namespace " + asked.space() + " to have the label " +
         kEnforce + ": privileged";
}

Message OfPodsCreated(const Asked& asked) {
  const Json& pod = asked.object();
  const Json* owner = nullptr;
  int controllers = 0;
  for (const Json& one : Owners(pod)) {
    if (!IsController(one)) continue;
    owner = &one;
    ++controllers;
  }
  const bool controlled = controllers == 1 && IsTrainingJob(*owner) &&
                          KeyOf(pod).name.starts_with(TextAt(*owner, {"name"}) + "-");
  if (!controlled) return "the operator creates only pods that a TrainingJob controls";
  const bool labelled = LabelOf(pod, kJobUidLabel) == TextAt(*owner, {"uid"}) &&
                        LabelOf(pod, kJobNameLabel) == TextAt(*owner, {"name"}) &&
                        HasLabel(pod, "weft.dev/attempt") && HasLabel(pod, "weft.dev/worker-index");
  if (!labelled) {
    return "the operator creates only pods with the labels of their job, attempt and worker";
  }
  if (!TextAt(pod, {"spec", "nodeName"}).empty()) {
    return "the operator leaves the choice of the node to kube-scheduler";
  }
  if (!At(pod, {"spec", "ephemeralContainers"}).empty()) {
    return "the operator creates no ephemeral containers";
  }
  return OfHostAccess(asked);
}

Message OfPodsDeleted(const Asked& asked) {
  for (const Json& owner : Owners(asked.before())) {
    const bool ours = IsController(owner) && IsTrainingJob(owner) &&
                      HasLabel(asked.before(), kJobUidLabel) &&
                      LabelOf(asked.before(), kJobUidLabel) == TextAt(owner, {"uid"});
    if (ours) return "";
  }
  return "the operator deletes only pods that a TrainingJob controls; others it may evict";
}

// Of pods that are not its own.
Message OfPods(const Asked& asked) {
  const Json &now = asked.object(), &was = asked.before();
  const bool same = asked.Keeps({"spec", "containers"}) &&
                    asked.Keeps({"spec", "initContainers"}) &&
                    asked.Keeps({"spec", "ephemeralContainers"});
  if (!same) return "the operator may not change a pod's containers";
  for (const char* field :
       {"nodeSelector", "tolerations", "activeDeadlineSeconds", "terminationGracePeriodSeconds"}) {
    if (!asked.Keeps({"spec", field})) {
      return "of the fields that decide where and how long a pod runs, the operator may change "
             "only "
             "the node affinity";
    }
  }
  for (const Json& gate : At(was, {"spec", "schedulingGates"})) {
    const std::string name = TextAt(gate, {"name"});
    if (name != kGate && !HasGate(now, name)) {
      return "the operator may remove only the scheduling gate weft.dev/placement";
    }
  }
  for (const char* field : {"labels", "ownerReferences", "finalizers"}) {
    if (!asked.Keeps({"metadata", field})) {
      return "the operator may not change a label, owner or finalizer of a pod";
    }
  }
  Json others = At(now, {"metadata", "annotations"}), before = At(was, {"metadata", "annotations"});
  for (Json* annotations : {&others, &before}) {
    Json kept = Json::object();
    for (const auto& [key, value] : annotations->items()) {
      if (!key.starts_with("weft.dev/")) kept[key] = value;
    }
    *annotations = std::move(kept);
  }
  return others == before ? "" : "the operator may change only annotations of weft.dev";
}

Message OfGate(const Asked& asked) {
  const Json* before = asked.attempt.before;
  const bool ungates =
      before != nullptr && HasGate(*before, kGate) && !HasGate(asked.object(), kGate);
  static const Json none;
  const Json& was = before == nullptr ? none : At(*before, {"metadata", "labels", kJobUidLabel});
  const bool relabels = At(asked.object(), {"metadata", "labels", kJobUidLabel}) != was;
  if (!ungates && !relabels) return "";
  if (asked.server.MayDo(asked.attempt.user, "patch", "placements.weft.dev", "status",
                         asked.space()))
    return "";
  if (ungates) {
    return "only Weft, and accounts that may patch placements/status (ClusterRole weft-admin), may "
           "remove the gate weft.dev/placement; create the pod without the gate to run it on any "
           "node";
  }
  return "only Weft creates pods with the label weft.dev/job-uid, and nobody changes it";
}

Json OtherFinalizers(const Json& job) {
  Json others = Json::array();
  for (const Json& one : At(job, {"metadata", "finalizers"})) {
    if (one != kClaims) others.push_back(one);
  }
  return others;
}

Message OfJobs(const Asked& asked) {
  const Json& was = asked.before();
  if (asked.operation == Verb::kDelete) {
    bool over = false;
    for (const char* end : {"Complete", "Failed"}) over = over || IsTrue(was, end);
    if (over && At(was, {"spec"}).contains("ttlSecondsAfterFinished")) return "";
    return "the operator deletes a TrainingJob only when it has finished and has "
           "ttlSecondsAfterFinished";
  }
  if (!asked.Keeps({"spec"})) return "the operator never changes the spec of a TrainingJob";
  const bool same = OtherFinalizers(asked.object()) == OtherFinalizers(was) &&
                    asked.Keeps({"metadata", "labels"}) &&
                    asked.Keeps({"metadata", "annotations"}) &&
                    asked.Keeps({"metadata", "ownerReferences"});
  if (same) return "";
  return "the operator may change only its finalizer weft.dev/claims in a TrainingJob's metadata";
}

bool MayWrite(const Asked& asked) {
  const std::string& resource = asked.attempt.resource;
  const Json& object = asked.any();
  const bool placement = resource == "placements.weft.dev";
  const bool own = asked.space() == kOwnSpace;
  const std::string& name = asked.attempt.key.name;
  if (resource == "services" && asked.operation != Verb::kUpdate &&
      HasLabel(object, kJobUidLabel) && HasLabel(object, kJobNameLabel)) {
    return true;
  }
  if (placement && HasLabel(object, "weft.dev/gang") && !Owners(object).empty()) return true;
  if (resource == "secrets" && asked.operation == Verb::kCreate && own &&
      name == "weft-operator-metrics") {
    return true;
  }
  if (resource == "configmaps" && asked.operation != Verb::kDelete && own &&
      name == "weft-learned-steps") {
    return true;
  }
  const Json& owners = Owners(object);
  return std::any_of(owners.begin(), owners.end(), [&](const Json& owner) {
    const std::string kind = TextAt(owner, {"kind"});
    return (IsOfGroup(owner, "weft.dev") && (kind == "TrainingJob" || kind == "Placement")) ||
           (placement && IsOfGroup(owner, "kueue.x-k8s.io") && kind == "Workload");
  });
}

Message OfOwned(const Asked& asked) {
  if (MayWrite(asked)) return "";
  return "the operator creates and deletes only objects that a TrainingJob or a Placement owns, "
         "Placements that a Workload of Kueue owns, Placements with the label weft.dev/gang that "
         "some "
         "object owns, and Services and ComputeDomains with the labels of a job";
}

Message OfPodGroups(const Asked& asked) {
  if (Message denied = OfOwned(asked); !denied.empty()) return denied;
  if (asked.operation != Verb::kUpdate) return "";
  const bool same = asked.Keeps({"spec"}) && asked.Keeps({"metadata", "ownerReferences"}) &&
                    asked.Keeps({"metadata", "labels"});
  return same ? "" : "the operator may change only the finalizers of a PodGroup";
}

Json NamesOfChecks(const Json& workload) {
  Json names = Json::array();
  for (const Json& check : At(workload, {"status", "admissionChecks"})) {
    names.push_back(At(check, {"name"}));
  }
  return names;
}

Message OfWorkloads(const Asked& asked) {
  const bool of_status = asked.attempt.subresource == "status";
  const Json& known = asked.operation == Verb::kCreate ? asked.object() : asked.before();
  const Json& owners = Owners(known);
  const bool owned = std::any_of(owners.begin(), owners.end(), [](const Json& owner) {
    return IsController(owner) && IsTrainingJob(owner);
  });
  if (!owned && !of_status) {
    return "the operator creates, changes and deletes only Workloads that a TrainingJob owns";
  }
  if (asked.operation != Verb::kUpdate) return "";
  if (!of_status) {
    const bool same = asked.Keeps({"spec", "podSets"}) && asked.Keeps({"spec", "priority"}) &&
                      asked.Keeps({"metadata", "ownerReferences"});
    if (same) return "";
    return "the operator may change only queueName, active and the finalizers of a TrainingJob's "
           "Workload";
  }
  for (const char* field : {"conditions", "admission", "requeueState", "reclaimablePods",
                            "unhealthyNodes", "clusterName", "schedulingStats"}) {
    if (!owned && !asked.Keeps({"status", field})) {
      return "the operator may change only admissionChecks in the status of another's Workload";
    }
  }
  if (NamesOfChecks(asked.object()) == NamesOfChecks(asked.before())) return "";
  return "the operator adds and removes no admission check of a Workload";
}

Message OfServices(const Asked& asked) {
  const Json& spec = At(asked.object(), {"spec"});
  const std::string type = TextAt(spec, {"type"});
  const bool headless = (type.empty() || type == "ClusterIP") &&
                        TextAt(spec, {"clusterIP"}) == "None" && !spec.contains("externalIPs") &&
                        At(spec, {"selector"}).contains(kJobUidLabel);
  return headless ? ""
                  : "the operator creates only headless Services that select the pods of one job";
}

// A namespace in which no job runs.
bool IsExcluded(const std::string& space) {
  return space == "kube-system" || space == "kube-public" || space == "kube-node-lease" ||
         space == kOwnSpace;
}

Message OfNamespaces(const Asked& asked) {
  const bool concerns =
      asked.attempt.resource == "trainingjobs.weft.dev" || asked.attempt.user == kOperatorAccount;
  if (!concerns || !IsExcluded(asked.space())) return "";
  return "Weft runs no jobs in this namespace (excludedNamespaces of its Helm chart)";
}

constexpr unsigned Bit(Verb operation) { return 1U << static_cast<unsigned>(operation); }
constexpr unsigned kCreates = Bit(Verb::kCreate), kUpdates = Bit(Verb::kUpdate),
                   kDeletes = Bit(Verb::kDelete);

// A policy's requests of one resource.
struct Rule {
  const char* name;      // of the policy, after "weft-operator-"
  const char* resource;  // "workloads.kueue.x-k8s.io/status"
  unsigned operations;
  bool by_anybody;  // or by the operator alone
  bool forbids;     // with the reason Forbidden, instead of Invalid
  Message (*deny)(const Asked& asked);
};

constexpr Rule kRules[] = {
    {"pods-created", "pods", kCreates, false, false, OfPodsCreated},
    {"pods-deleted", "pods", kDeletes, false, false, OfPodsDeleted},
    {"pods", "pods", kUpdates, false, false, OfPods},
    {"gate", "pods", kCreates | kUpdates, true, true, OfGate},
    {"namespaces", "pods", kCreates | kUpdates, true, true, OfNamespaces},
    {"namespaces", "trainingjobs.weft.dev", kCreates, true, true, OfNamespaces},
    {"jobs", "trainingjobs.weft.dev", kUpdates | kDeletes, false, false, OfJobs},
    {"owned", "placements.weft.dev", kCreates | kDeletes, false, false, OfOwned},
    {"owned", "services", kCreates | kUpdates | kDeletes, false, false, OfOwned},
    {"owned", "configmaps", kCreates | kUpdates | kDeletes, false, false, OfOwned},
    {"owned", "secrets", kCreates | kUpdates | kDeletes, false, false, OfOwned},
    {"owned", "resourceclaimtemplates.resource.k8s.io", kCreates | kUpdates | kDeletes, false,
     false, OfOwned},
    {"owned", "podgroups.scheduling.k8s.io", kCreates | kUpdates, false, false, OfPodGroups},
    {"workloads", "workloads.kueue.x-k8s.io", kCreates | kUpdates | kDeletes, false, false,
     OfWorkloads},
    {"workloads", "workloads.kueue.x-k8s.io/status", kUpdates, false, false, OfWorkloads},
    {"services", "services", kCreates, false, false, OfServices},
};

bool Names(const Rule& rule, const ApiServer::Attempt& attempt) {
  const std::string_view resource = rule.resource;
  if (attempt.subresource.empty()) return resource == attempt.resource;
  return resource == attempt.resource + "/" + attempt.subresource;
}

}  // namespace

std::vector<Policies::Denial> Policies::DenialsOf(const ApiServer::Attempt& attempt) const {
  const Verb operation = attempt.before == nullptr   ? Verb::kCreate
                         : attempt.object == nullptr ? Verb::kDelete
                                                     : Verb::kUpdate;
  const bool by_operator = attempt.user == kOperatorAccount;
  std::vector<Denial> denials;
  for (const Rule& rule : kRules) {
    if (!by_operator && !rule.by_anybody) continue;
    if ((rule.operations & Bit(operation)) == 0 || !Names(rule, attempt)) continue;
    std::string message = rule.deny({attempt, server_, operation});
    if (message.empty()) continue;
    denials.push_back({std::string("weft-operator-") + rule.name, std::move(message),
                       rule.forbids ? "Forbidden" : "Invalid"});
  }
  return denials;
}

std::optional<kube::Response> Policies::Validate(const ApiServer::Attempt& attempt) const {
  const std::vector<Denial> denials = DenialsOf(attempt);
  if (denials.empty()) return std::nullopt;
  const Denial& first = denials.front();
  const std::string why = "ValidatingAdmissionPolicy '" + first.policy + "' with binding '" +
                          first.policy + "' denied request: " + first.message;
  const std::string& resource = attempt.resource;
  const std::size_t dot = std::min(resource.find('.'), resource.size());
  Json details = {{"name", attempt.key.name},
                  {"kind", resource.substr(0, dot)},
                  {"causes", {{{"message", why}}}}};
  if (dot < resource.size()) details["group"] = resource.substr(dot + 1);
  return Failure(first.reason == "Forbidden" ? 403 : 422, first.reason,
                 resource + " \"" + attempt.key.name + "\" is forbidden: " + why,
                 std::move(details));
}

void Policies::AddGate(const ApiServer::Attempt& attempt) const {
  if (attempt.resource != "pods" || attempt.before != nullptr || !attempt.subresource.empty())
    return;
  Json& pod = *attempt.object;
  const bool asks = HasLabel(pod, kGate) || LabelOf(pod, "weft.dev/place") == "true";
  const bool bound = !TextAt(pod, {"spec", "nodeName"}).empty();
  if (!asks || HasLabel(pod, kJobUidLabel) || bound || HasGate(pod, kGate)) return;
  if (IsExcluded(attempt.key.space)) return;
  pod["spec"]["schedulingGates"].push_back({{"name", kGate}});
}

}  // namespace weft::world
