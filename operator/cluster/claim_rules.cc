#include "operator/cluster/claim_rules.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "operator/api/device_details.h"
#include "operator/cluster/other_devices.h"
#include "operator/cluster/placement_pods.h"
#include "operator/cluster/volumes.h"
#include "operator/cluster/worker_order.h"

namespace weft::cluster {
namespace {

using api::ObjectKey;
using rules::VolumeRules;
using ClaimList = std::vector<api::ClaimReference>;
using Texts = std::vector<std::string>;
using Terms = std::vector<rules::NodeSelectorTerm>;

// Whether a request says more than how many devices of a class it wants.
bool SaysMore(const api::ClaimRequest& request) {
  return request.choices.size() > 1 ||
         std::any_of(request.choices.begin(), request.choices.end(), [](const auto& choice) {
           return choice.all || !choice.selectors.empty() || !choice.tolerations.empty();
         });
}

std::optional<VolumeRules::Place> PlaceOf(const api::ResourceClaim& claim) {
  const std::string allocated = "its ResourceClaim " + claim.meta.key.name + " is allocated ";
  if (!claim.node_name.empty()) {
    Terms terms = {{{}, {{"metadata.name", "In", {claim.node_name}}}}};
    // The allocation may say more than the name.
    if (auto whole = api::AllocatedPlace(claim)) terms = *std::move(whole);
    return VolumeRules::Place{std::move(terms), allocated + "on node " + claim.node_name};
  }
  auto terms = api::AllocatedPlace(claim);
  if (!terms) return std::nullopt;
  const std::string where = PlaceText(*terms);
  return VolumeRules::Place{*std::move(terms), allocated + where};
}

bool WaitsWithClaims(const api::Pod& pod) {
  return !pod.claims.empty() && pod.node_name.empty() && HasGate(pod);
}

template <typename T>
void AddOnce(const T& one, std::vector<T>& list) {
  if (std::find(list.begin(), list.end(), one) == list.end()) list.push_back(one);
}

// What the objects of the inputs say of claims.
class ClaimReader {
 public:
  explicit ClaimReader(const api::Inputs& inputs) : others_(inputs) {
    for (const api::ClaimTemplate& one : inputs.claim_templates) templates_[one.meta.key] = &one;
    for (const api::DeviceClass& one : inputs.device_classes) classes_[one.meta.key.name] = &one;
  }

  const OtherDevices& others() const { return others_; }

  const std::vector<api::ClaimRequest>& RequestsOf(const ObjectKey& claim_template) {
    const auto [requests, is_new] = requests_.try_emplace(claim_template);
    const auto found = templates_.find(claim_template);
    if (is_new && found != templates_.end()) {
      if (auto read = api::RequestsOf(*found->second)) requests->second = *std::move(read);
    }
    return requests->second;
  }

  std::set<std::string> NotesOf(const std::string& space, const ClaimList& claims,
                                const std::string& device_class) {
    std::set<std::string> notes;
    NoteClass(device_class, notes);
    for (const api::ClaimReference& one : claims) {
      if (!one.claim.empty()) continue;
      const std::set<std::string>& more = NotesOf({space, one.claim_template});
      notes.insert(more.begin(), more.end());
    }
    return notes;
  }

 private:
  static std::string NoteOf(const std::string& of, const std::string& expression) {
    constexpr std::size_t kShown = 80;
    const std::string shown =
        expression.size() > kShown ? expression.substr(0, kShown) + "..." : expression;
    return of + ": CEL " + shown +
           " is not evaluated, so kube-scheduler may refuse nodes that a plan takes";
  }

  // Of a class of accelerators no more is read than DeviceClass::driver, type and product; which
  // class is of channels, its driver says.
  void NoteClass(const std::string& name, std::set<std::string>& notes) const {
    const auto found = classes_.find(name);
    if (found == classes_.end() || found->second->driver == api::kComputeDomainDriver) return;
    const bool counts = !others_.ResourceOf(name).empty();
    std::string not_read;
    for (const std::string& one : api::SelectorsOf(*found->second).value_or(Texts())) {
      if (counts && api::DeviceSelector(one).exact()) continue;
      not_read += (not_read.empty() ? "" : " && ") + one;
    }
    const bool all_read = not_read.empty() || (!counts && found->second->exact);
    if (!all_read) notes.insert(NoteOf("DeviceClass " + name, not_read));
  }

  const std::set<std::string>& NotesOf(const ObjectKey& claim_template) {
    const auto [notes, is_new] = notes_.try_emplace(claim_template);
    if (!is_new) return notes->second;
    for (const api::ClaimRequest& request : RequestsOf(claim_template)) {
      for (const api::RequestChoice& choice : request.choices) {
        NoteClass(choice.device_class, notes->second);
        const bool counts = !others_.ResourceOf(choice.device_class).empty();
        for (const std::string& one : choice.selectors) {
          if (counts && api::DeviceSelector(one).exact()) continue;
          const std::string of = "request " + request.name + " (" + choice.device_class +
                                 ") of ResourceClaimTemplate " + claim_template.name;
          notes->second.insert(NoteOf(of, one));
        }
      }
    }
    return notes->second;
  }

  const OtherDevices others_;
  std::map<ObjectKey, const api::ClaimTemplate*> templates_;
  std::map<ObjectKey, std::vector<api::ClaimRequest>> requests_;  // as they are asked for
  std::map<std::string, const api::DeviceClass*> classes_;
  std::map<ObjectKey, std::set<std::string>> notes_;  // by template
};

class Limiting {
 public:
  explicit Limiting(api::Inputs& inputs) : inputs_(inputs), reader_(inputs) {
    for (const api::ResourceClaim& one : inputs.resource_claims) claims_[one.meta.key] = &one;
  }

  std::vector<std::string> Run() {
    for (std::size_t j = 0; j < inputs_.jobs.size(); ++j) {
      const api::TrainingJob& job = inputs_.jobs[j];
      if (IsFinished(job)) continue;
      Note(job.meta.key.space, job.claims, job.accelerator.device_class);
      const auto rules = RulesOf(job.meta.key, job.claims, *job.pod.volumes);
      if (rules) inputs_.jobs.Edit(j).pod.volumes = *rules;
    }
    for (std::size_t p = 0; p < inputs_.placements.size(); ++p) {
      const api::Placement& one = inputs_.placements[p];
      if (!one.proposal) continue;
      const api::Proposal& proposal = *one.proposal;
      Note(one.meta.key.space, proposal.claims, "");
      const auto rules = RulesOf({one.meta.key.space, ""}, proposal.claims, *proposal.pod.volumes);
      if (rules) inputs_.placements.Edit(p).proposal->pod.volumes = *rules;
    }
    for (std::size_t p = 0; p < inputs_.pods.size(); ++p) {
      const api::Pod& pod = inputs_.pods[p];
      if (!WaitsWithClaims(pod)) continue;
      Note(pod.meta.key.space, pod.claims, "");
      const auto rules = RulesOf({pod.meta.key.space, ""}, pod.claims, *pod.pod.volumes);
      if (rules) inputs_.pods.Edit(p).pod.volumes = *rules;
    }
    return {notes_.begin(), notes_.end()};
  }

 private:
  void Note(const std::string& space, const ClaimList& claims, const std::string& device_class) {
    notes_.merge(reader_.NotesOf(space, claims, device_class));
  }

  // `job`: with the name "" for pods of others. Nothing if nothing is to be added to `rules`.
  std::optional<VolumeRules> RulesOf(const ObjectKey& job, const ClaimList& references,
                                     const VolumeRules& rules) {
    if (references.empty()) return std::nullopt;
    VolumeRules all = rules;
    for (const api::ClaimReference& one : references) {
      if (one.claim.empty()) {
        for (const auto& limit : LimitsOf(job, one.claim_template)) AddOnce(limit, all.attached);
        continue;
      }
      const auto claim = claims_.find({job.space, one.claim});
      if (claim == claims_.end() || IsOnlyOf(job, *claim->second)) continue;
      if (const auto place = PlaceOf(*claim->second)) AddOnce(*place, all.places);
    }
    if (all == rules) return std::nullopt;
    return all;
  }

  void JobsOfPods() {
    if (!jobs_of_pods_.empty()) return;
    for (const api::Pod& pod : inputs_.pods) {
      const auto of = pod.meta.labels.At(api::kJobNameLabel);
      jobs_of_pods_[pod.meta.key] = std::string(of.value_or(""));
    }
  }

  // Whether pods of the job, and no others, use the claim.
  bool IsOnlyOf(const ObjectKey& job, const api::ResourceClaim& claim) {
    if (job.name.empty() || claim.users.empty()) return false;
    JobsOfPods();
    return std::all_of(claim.users.begin(), claim.users.end(), [&](const auto& user) {
      const auto of = jobs_of_pods_.find({job.space, user.pod});
      return of != jobs_of_pods_.end() && of->second == job.name;
    });
  }

  // The job whose pods alone use the claim; "": none.
  std::string OnlyJobOf(const api::ResourceClaim& claim) {
    if (claim.users.empty()) return "";
    JobsOfPods();
    const auto first = jobs_of_pods_.find({claim.meta.key.space, claim.users.front().pod});
    if (first == jobs_of_pods_.end() || first->second.empty()) return "";
    return IsOnlyOf({claim.meta.key.space, first->second}, claim) ? first->second : "";
  }

  void CountTaken() {
    if (std::exchange(counted_, true)) return;
    for (const api::ResourceClaim& claim : inputs_.resource_claims) {
      const bool counts = std::any_of(
          claim.devices.begin(), claim.devices.end(),
          [&](const auto& device) { return reader_.others().KnowsDriver(device.driver); });
      if (!counts) continue;
      all_taken_.insert(claim.devices.begin(), claim.devices.end());
      if (const std::string job = OnlyJobOf(claim); !job.empty()) {
        own_[{claim.meta.key.space, job}].push_back(&claim);
      }
    }
  }

  // The devices that claims have which not only pods of the job use: its own are free again before
  // its next attempt. Most jobs that ask for nodes have none.
  const OtherDevices::Taken& TakenFrom(const ObjectKey& job) {
    const auto own = own_.find(job);
    if (own == own_.end()) return all_taken_;
    const auto [taken, is_new] = taken_.try_emplace(job, all_taken_);
    if (!is_new) return taken->second;
    for (const api::ResourceClaim* claim : own->second) {
      for (const auto& device : claim->devices) taken->second.erase(device);
    }
    return taken->second;
  }

  using Limits = std::vector<VolumeRules::Attached>;

  const Limits& LimitsOf(const ObjectKey& job, const std::string& claim_template) {
    CountTaken();
    // Of jobs without devices the limits are the same.
    const std::string of = own_.contains(job) ? job.name : "";
    const auto [limits, is_new] = limits_.try_emplace({{job.space, of}, claim_template});
    if (!is_new) return limits->second;
    for (const api::ClaimRequest& request : reader_.RequestsOf({job.space, claim_template})) {
      if (!SaysMore(request)) continue;
      const std::string name =
          "request " + request.name + " of ResourceClaimTemplate " + claim_template;
      AddLimit(name, request, {}, limits->second);
      const OtherDevices::Taken& taken = TakenFrom(job);
      if (!taken.empty()) AddLimit("free " + name, request, taken, limits->second);
    }
    return limits->second;
  }

  void AddLimit(const std::string& name, const api::ClaimRequest& request,
                const OtherDevices::Taken& taken, Limits& limits) {
    auto served = reader_.others().ServedBy(request, inputs_.nodes, taken);
    if (!served) return;
    rules::DriverVolumes of;
    of.limits = *std::move(served);
    VolumeRules::Attached limit;
    limit.driver = name;
    limit.own = 1;
    limit.of = std::make_shared<const rules::DriverVolumes>(std::move(of));
    limits.push_back(std::move(limit));
  }

  api::Inputs& inputs_;
  ClaimReader reader_;
  std::map<ObjectKey, const api::ResourceClaim*> claims_;
  bool counted_ = false;
  OtherDevices::Taken all_taken_;
  std::map<ObjectKey, std::vector<const api::ResourceClaim*>> own_;  // by job, of it alone
  std::map<ObjectKey, OtherDevices::Taken> taken_;                   // by job that has such claims
  std::map<std::pair<ObjectKey, std::string>, Limits> limits_;       // by job and template
  std::map<ObjectKey, std::string> jobs_of_pods_;
  std::set<std::string> notes_;
};

// Whether a job or a pod to be placed has claims.
bool AnyClaims(const api::Inputs& inputs) {
  const auto claims = [](const auto& one) { return !one.claims.empty(); };
  return std::any_of(inputs.jobs.begin(), inputs.jobs.end(),
                     [&](const api::TrainingJob& job) {
                       return claims(job) || !job.accelerator.device_class.empty();
                     }) ||
         std::any_of(inputs.pods.begin(), inputs.pods.end(), WaitsWithClaims) ||
         std::any_of(inputs.placements.begin(), inputs.placements.end(),
                     [&](const auto& one) { return one.proposal && claims(*one.proposal); });
}

}  // namespace

std::vector<std::string> LimitToClaims(api::Inputs& inputs) {
  if (!AnyClaims(inputs)) return {};
  return Limiting(inputs).Run();
}

std::vector<std::string> SelectorsNotEvaluated(const api::Inputs& inputs, const std::string& space,
                                               const std::vector<api::ClaimReference>& claims,
                                               const std::string& device_class) {
  if (claims.empty() && device_class.empty()) return {};
  const auto notes = ClaimReader(inputs).NotesOf(space, claims, device_class);
  return {notes.begin(), notes.end()};
}

}  // namespace weft::cluster
