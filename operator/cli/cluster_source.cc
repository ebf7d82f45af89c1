#include "operator/cli/cluster_source.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/api/decode.h"
#include "operator/kube/frame.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/kueue_resources.h"
#include "operator/kube/resource.h"
#include "operator/kube/status_code.h"
#include "operator/manifest/keep_rules.h"

namespace weft::cli {
namespace {

using kube::Millis;
using kube::Resource;

constexpr std::size_t kReaderThreads = 2;  // one request at a time
constexpr int kPageLimit = 500, kLargestPage = 8'000;
constexpr int kTries = 4;  // for one page
constexpr Millis kPageTimeout{60'000}, kShortestPause{250}, kLongestPause{10'000};

constexpr Resource kKinds[] = {
    kube::kFabrics,        kube::kTrainingJobs,   kube::kPlacements,      kube::kPods,
    kube::kNodes,          kube::kNamespaces,     kube::kPriorityClasses, kube::kConfigMaps,
    kube::kResourceClaims, kube::kClaimTemplates, kube::kResourceSlices,  kube::kDeviceClasses,
    kube::kVolumes,        kube::kVolumeClaims,   kube::kStorageClasses,  kube::kCsiNodes,
    kube::kPodGroups};

// In this order: without a check of Weft's the others are not read.
constexpr Resource kKueueKinds[] = {kube::kAdmissionChecks, kube::kWorkloads,
                                    kube::kResourceFlavors};

std::string VersionOf(const Resource& resource) {
  return (resource.group.empty() ? "" : std::string(resource.group) + "/") +
         std::string(resource.version);
}

bool IsBusy(int status) {
  return status == kube::kTooManyRequests || status == kube::kUnavailable ||
         status == kube::kGatewayTimeout;
}

Error RefusedError(const Resource& resource, const kube::Response& response) {
  const std::string words = kube::StatusMessage(response.body);
  std::string text = "cluster: list " + std::string(resource.plural) + ": ";
  if (response.status == kube::kUnauthorized) {
    text += "the server does not accept the credentials of the kubeconfig";
  } else if (response.status == kube::kForbidden) {
    text += "forbidden";
  } else if (response.status == kube::kNotFound) {
    text += "no Kubernetes API server answers here";
  } else {
    text += "the server answers " + std::to_string(response.status);
  }
  return {ErrorKind::kTransient, text + (words.empty() ? "" : ": " + words)};
}

class ClusterReader {
 public:
  ClusterReader(kube::Transport& transport, kube::Timer& timer, const ReadProgress& progress)
      : transport_(transport), timer_(timer), progress_(progress) {}

  Result<LiveObjects> Run(Kinds kinds) {
    if (kinds == Kinds::kQueues) {
      if (Status read = ReadKueue(); !read) return read.error();
    }
    for (const Resource& resource : kKinds) {
      if (Status read = ReadList(resource); !read) return read.error();
    }
    return std::move(out_);
  }

 private:
  Status ReadKueue() {
    for (const Resource& resource : kKueueKinds) {
      if (Status read = ReadList(resource); !read) return read.error();
      const auto& checks = out_.inputs.admission_checks;
      const bool ours = std::any_of(checks.begin(), checks.end(), [](const auto& check) {
        return check.controller == api::kCheckController;
      });
      if (!ours) return {};
    }
    return {};
  }

  // If a list takes longer than the server keeps old versions, it starts again with fewer, larger
  // pages. Objects are decoded only after the list is complete.
  Status ReadList(const Resource& resource) {
    for (int limit = kPageLimit;; limit *= 4) {
      std::vector<kube::ServedObject> items;
      lacking_ = false;
      Result<bool> complete = ReadPages(resource, limit, items);
      if (!complete) return complete.error();
      if (*complete) {
        for (kube::ServedObject& item : items) Take(resource, std::move(item));
        KnowAll(resource);
        return {};
      }
      if (limit >= kLargestPage) {
        return Error{ErrorKind::kTransient,
                     "cluster: list " + std::string(resource.plural) +
                         ": the list changes faster than it can be read; try again"};
      }
    }
  }

  // Returns false if the server no longer has the version that the list began with.
  Result<bool> ReadPages(const Resource& resource, int limit,
                         std::vector<kube::ServedObject>& items) {
    const manifest::Subject subject = manifest::SubjectOfKind(resource.kind);
    kube::Request request;
    request.path = kube::PathOf(resource, {});
    request.query["limit"] = std::to_string(limit);
    const bool of_learned = resource.kind == kube::kConfigMaps.kind;
    if (of_learned) {
      request.query["fieldSelector"] = "metadata.name=" + std::string(api::kLearnedSteps);
    }
    request.timeout = kPageTimeout;
    request.accept = kube::AcceptOf(subject);
    while (true) {
      Result<kube::Response> response = Send(request);
      if (!response) return response.error();
      const bool first = !request.query.contains("continue");
      if (response->status == kube::kGone && !first) return false;
      if (response->status == kube::kNotFound && resource.group == api::kGroup) return true;
      if (response->status == kube::kForbidden && of_learned) return true;
      if (IsOptional(resource) && Lacks(resource, response->status)) return true;
      if (response->status / 100 != 2) return RefusedError(resource, *response);
      Result<kube::Page> page = kube::ParsePage(response->body, subject);
      if (!page) {
        return Error{page.error().kind,
                     "cluster: list " + std::string(resource.plural) + ": " + page.error().message};
      }
      for (kube::ServedObject& item : page->items) items.push_back(std::move(item));
      if (page->next.empty()) return true;
      progress_("read " + std::to_string(items.size()) + " " + std::string(resource.plural));
      request.query["continue"] = page->next;
    }
  }

  static bool IsOptional(const Resource& resource) { return WithoutIt(resource) != nullptr; }

  // What is not known without an optional kind; null: the kind is not optional.
  static const char* WithoutIt(const Resource& resource) {
    if (resource.group == api::kDeviceGroup) {
      return "GPUs that ResourceClaims hold may count as free";
    }
    if (resource.group == api::kKueueGroup) {
      return "jobs that wait in queues of Kueue may be missing";
    }
    if (resource.plural == kube::kPodGroups.plural) {
      return "gangs that wait for workers without a pod may be missing";
    }
    return kube::IsOfVolumes(resource) ? "volumes of pods do not limit the nodes of a plan"
                                       : nullptr;
  }

  // A complete list, which may be empty: what it lacks does not exist.
  void KnowAll(const Resource& resource) {
    if (lacking_) return;
    const auto is = [&](const Resource& one) { return resource.plural == one.plural; };
    if (is(kube::kVolumes)) out_.inputs.knows_volumes = true;
    if (is(kube::kVolumeClaims)) out_.inputs.knows_claims = true;
    if (is(kube::kStorageClasses)) out_.inputs.knows_classes = true;
  }

  // Whether the server does not serve the optional kind, or the account may not list it.
  bool Lacks(const Resource& resource, int status) {
    if (status == kube::kForbidden) {
      out_.skipped.push_back("cluster: list " + std::string(resource.plural) + ": forbidden; " +
                             WithoutIt(resource));
    }
    lacking_ = status == kube::kForbidden || status == kube::kNotFound;
    return lacking_;
  }

  Result<kube::Response> Send(const kube::Request& request) {
    for (int tries = 1;; ++tries) {
      Result<kube::Response> response = transport_.Send(request);
      if (!response) {
        if (response.error().kind == ErrorKind::kInvalid) return response.error();
        return Error{ErrorKind::kTransient,
                     "the cluster cannot be reached: " + response.error().message};
      }
      if (!IsBusy(response->status) || tries == kTries) return response;
      const Millis pause = response->retry_after.value_or(kShortestPause * (1 << tries));
      if (!timer_.Wait(std::clamp(pause, kShortestPause, kLongestPause))) return response;
    }
  }

  // Items of a list have no apiVersion and kind, so they are added.
  void Take(const Resource& resource, kube::ServedObject item) {
    item.json["apiVersion"] = VersionOf(resource);
    item.json["kind"] = resource.kind;
    if (!item.unreadable.empty()) {
      out_.skipped.push_back(std::string(kClusterPlace) + ": " + std::string(resource.kind) + " " +
                             api::Show(item.key) + ": " + item.unreadable);
      return;
    }
    const Status decoded = api::DecodeInto(item.json, kClusterPlace, out_.inputs);
    if (!decoded) out_.skipped.push_back(decoded.error().message);
  }

  kube::Transport& transport_;
  kube::Timer& timer_;
  const ReadProgress& progress_;
  LiveObjects out_;
  bool lacking_ = false;  // the list that was read last
};

}  // namespace

Result<LiveObjects> ReadObjects(kube::Transport& transport, kube::Timer& timer,
                                const ReadProgress& progress, Kinds kinds) {
  return ClusterReader(transport, timer, progress).Run(kinds);
}

Result<LiveObjects> ReadLiveCluster(const kube::ConfigChoice& choice, const ReadProgress& progress,
                                    Kinds kinds) {
  Result<kube::Config> config = kube::LoadConfig(choice);
  if (!config) return config.error();
  kube::UseThreads(kReaderThreads);
  kube::SystemTimer timer;
  const std::unique_ptr<kube::Transport> transport =
      kube::MakeHttpTransport(*std::move(config), "weft/" WEFT_VERSION);
  return ReadObjects(*transport, timer, progress, kinds);
}

}  // namespace weft::cli
