#include "operator/service/rpc_answers.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "operator/cluster/accelerator_resources.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/overlay.h"
#include "operator/life/as_of.h"
#include "operator/manifest/inputs.h"
#include "operator/plan/plan.h"
#include "operator/plan/status.h"
#include "operator/render/explain_text.h"
#include "operator/report/explain_held.h"

namespace weft::service {
namespace {

using Json = nlohmann::json;

// The name of a request's objects in messages.
constexpr const char* kManifests = "manifests";
constexpr double kMillisecondsPerSecond = 1e3;

Result<api::Inputs> Read(const std::string& manifests) {
  if (manifests.empty()) return api::Inputs();
  return manifest::ReadInputs({{kManifests, manifests}});
}

// The live cluster with the objects of the request, which replace live ones of the same name.
Result<cluster::Cluster> ClusterOf(RpcSource::Live live, const std::string& manifests,
                                   UnixSeconds now) {
  Result<api::Inputs> wanted = Read(manifests);
  if (!wanted) return wanted.error();
  const bool other_fabrics = !wanted->nodes.empty() || !wanted->fabrics.empty();
  life::SetTimes(live.inputs, now);
  Result<api::Inputs> inputs = cluster::Overlay(std::move(live.inputs), *std::move(wanted));
  if (!inputs) return inputs.error();
  const bool other_names =
      cluster::NamedAcceleratorResources(*inputs).all != live.fabrics->accelerator_resources;
  if (other_fabrics || other_names) return cluster::BuildCluster(*std::move(inputs));
  return cluster::BuildCluster(*std::move(inputs), *live.fabrics);
}

bool IsOfRequest(const plan::PlanEntry& entry) {
  return entry.workload.place->starts_with(std::string(kManifests) + ": ");
}

// An invalid live workload is refused in the report; an invalid workload of the request is an
// error. A crash in here names nobody, because the request may use the names of live objects; so it
// does not ask about a live workload on which the solver has crashed even once.
Result<plan::PlanReport> PlanAll(const cluster::Cluster& cluster, UnixSeconds now) {
  plan::PlanOptions options;
  options.crashes = {.now = now, .wary = true};
  options.order = cluster::Order::kOperator;
  options.refuse_invalid = true;
  options.heed_queues = true;
  Result<plan::PlanReport> report = plan::Plan(cluster, options);
  if (!report) return report;
  for (const plan::PlanEntry& entry : report->entries) {
    const plan::Refused* refused = entry.refused();
    if (refused != nullptr && refused->reason == "Invalid" && IsOfRequest(entry)) {
      return Invalid(refused->message);
    }
  }
  return report;
}

std::string TextAt(const Json& object, const char* key) { return object.value(key, ""); }

void Fill(const Json& traffic, v1::Traffic& message) {
  for (const Json& flow : traffic.value("flows", Json::array())) {
    v1::Flow& one = *message.add_flows();
    one.set_axis(TextAt(flow, "axis"));
    one.set_level(TextAt(flow, "level"));
    one.set_bytes(TextAt(flow, "bytes"));
    one.set_bytes_per_gpu(TextAt(flow, "bytesPerGPU"));
  }
  message.set_cross_node_bytes(TextAt(traffic, "crossNodeBytes"));
  message.set_best_cross_node_bytes(TextAt(traffic, "bestCrossNodeBytes"));
  if (const auto cost = traffic.find("costOverLowerBoundPercent"); cost != traffic.end()) {
    message.set_cost_over_lower_bound_percent(cost->get<std::int64_t>());
  }
  if (const auto time = traffic.find("communicationMilliseconds"); time != traffic.end()) {
    message.set_communication_seconds(time->get<double>() / kMillisecondsPerSecond);
  }
}

// The object as a message, from its manifest form.
v1::Placement PlacementMessage(const Json& object) {
  v1::Placement message;
  const Json& meta = object.at("metadata");
  message.set_namespace_(TextAt(meta, "namespace"));
  message.set_name(TextAt(meta, "name"));
  message.set_job_name(TextAt(meta.value("labels", Json::object()), api::kJobNameLabel));
  const Json status = object.value("status", Json::object());
  for (const Json& node : status.value("nodes", Json::array())) {
    message.add_nodes(node.get<std::string>());
  }
  for (const Json& condition : status.value("conditions", Json::array())) {
    if (TextAt(condition, "type") != "Placed") continue;
    message.set_reason(TextAt(condition, "reason"));
    message.set_message(TextAt(condition, "message"));
  }
  for (const Json& span : status.value("spans", Json::array())) {
    v1::Span& one = *message.add_spans();
    one.set_level(TextAt(span, "level"));
    one.set_domains(span.value("domains", std::int64_t{0}));
  }
  if (const auto traffic = status.find("traffic"); traffic != status.end()) {
    Fill(*traffic, *message.mutable_traffic());
  }
  return message;
}

void Fill(const cluster::ClusterFabric& on, fabric::Tier tier, bool nodes, v1::Level& level) {
  const fabric::Fabric& fabric = *on.fabric;
  const fabric::TierDomains& domains = fabric.domains(tier);
  level.set_name(fabric.tiers()[tier].name);
  for (fabric::DomainIndex d{0}; d < domains.EndIndex(); ++d) {
    v1::Domain& domain = *level.add_domains();
    domain.set_name(domains.names[d]);
    if (tier > fabric::Tier{1}) {
      const fabric::TierDomains& wider = fabric.domains(tier - 1);
      domain.set_parent(wider.names[wider.of_node[domains.begin[d]]]);
    }
    domain.set_node_count(domains.begin[d + 1] - domains.begin[d]);
    domain.set_accelerator_count(fabric.AcceleratorsIn(tier, d));
    std::int64_t free = 0;
    for (fabric::NodeIndex n = domains.begin[d]; n < domains.begin[d + 1]; ++n) {
      free += std::max<std::int64_t>(on.claims.free_accelerators(n), 0);
      if (nodes) domain.add_nodes(fabric.node(n).name);
    }
    domain.set_free_accelerator_count(free);
  }
}

Result<std::size_t> FindFabric(const cluster::Cluster& cluster, const std::string& name) {
  if (!name.empty()) {
    const auto found = cluster.FindFabric(name);
    if (found) return *found;
    return Error{ErrorKind::kNotFound, "name: no Fabric \"" + name + "\""};
  }
  if (cluster.fabrics.size() == 1) return std::size_t{0};
  if (cluster.fabrics.empty()) return Error{ErrorKind::kNotFound, "there is no Fabric"};
  std::string names;
  for (const cluster::ClusterFabric& one : cluster.fabrics) {
    names += (names.empty() ? "" : ", ") + one.name();
  }
  return Invalid("name: must be one of " + names);
}

}  // namespace

Result<std::vector<std::string>> SpacesOf(const v1::PlanRequest& request) {
  if (request.manifests().empty()) return Invalid("manifests: is required");
  const Result<api::Inputs> wanted = Read(request.manifests());
  if (!wanted) return wanted.error();
  std::set<std::string> spaces;
  for (const auto& job : wanted->jobs) spaces.insert(job.meta.key.space);
  for (const auto& placement : wanted->placements) spaces.insert(placement.meta.key.space);
  if (spaces.size() > kMostSpaces) {
    return Invalid("manifests: must have workloads of at most " + std::to_string(kMostSpaces) +
                   " namespaces, has workloads of " + std::to_string(spaces.size()));
  }
  return std::vector<std::string>(spaces.begin(), spaces.end());
}

Result<v1::PlanResponse> AnswerPlan(RpcSource::Live live, const v1::PlanRequest& request,
                                    UnixSeconds now) {
  const auto cluster = ClusterOf(std::move(live), request.manifests(), now);
  if (!cluster) return cluster.error();
  const auto report = PlanAll(*cluster, now);
  if (!report) return report.error();
  v1::PlanResponse response;
  for (const plan::PlanEntry& entry : report->entries) {
    if (!IsOfRequest(entry)) continue;
    *response.add_placements() = PlacementMessage(Json(plan::PlacementOf(*cluster, entry)));
  }
  return response;
}

Result<v1::ExplainResponse> AnswerExplain(RpcSource::Live live, const v1::ExplainRequest& request,
                                          UnixSeconds now) {
  if (request.name().empty()) return Invalid("name: is required");
  const auto cluster = ClusterOf(std::move(live), request.manifests(), now);
  if (!cluster) return cluster.error();
  auto report = PlanAll(*cluster, now);
  if (!report) return report.error();
  const std::string space = request.namespace_().empty() ? "default" : request.namespace_();
  const auto explained = report::ExplainNamed(*cluster, {space + "/" + request.name()}, *report);
  if (!explained) return Error{ErrorKind::kNotFound, explained.error().message};
  v1::ExplainResponse response;
  response.set_placed(std::all_of(explained->begin(), explained->end(), [&](const auto& one) {
    return report->entries[one.entry].placed() != nullptr;
  }));
  response.set_text(render::ExplainText(*report, *explained, {}));
  return response;
}

Result<v1::GetFabricResponse> AnswerFabric(RpcSource::Live live,
                                           const v1::GetFabricRequest& request) {
  const cluster::Cluster cluster = cluster::BuildCluster(std::move(live.inputs), *live.fabrics);
  const auto which = FindFabric(cluster, request.name());
  if (!which) return which.error();
  const cluster::ClusterFabric& on = cluster.fabrics[*which];
  v1::GetFabricResponse response;
  response.set_name(on.name());
  for (fabric::Tier tier{1}; tier < on.fabric->node_tier(); ++tier) {
    Fill(on, tier, request.nodes(), *response.add_levels());
  }
  for (const fabric::IncompleteNode& node : on.fabric->incomplete()) {
    response.add_incomplete_nodes(node.node);
  }
  return response;
}

std::string CursorOf(const std::string& epoch, std::uint64_t number) {
  return epoch + ":" + std::to_string(number);
}
std::optional<std::uint64_t> NumberOf(const std::string& cursor, const std::string& epoch) {
  if (!cursor.starts_with(epoch + ":")) return std::nullopt;
  const std::string digits = cursor.substr(epoch.size() + 1);
  if (digits.empty() || digits.size() > 19 ||
      digits.find_first_not_of("0123456789") != std::string::npos) {
    return std::nullopt;
  }
  return std::stoull(digits);
}

v1::Placement MessageOf(const api::Placement& placement) {
  if (placement.raw) return PlacementMessage(*placement.raw);
  v1::Placement message;
  message.set_namespace_(placement.meta.key.space);
  message.set_name(placement.meta.key.name);
  for (const std::string& node : placement.nodes) message.add_nodes(node);
  return message;
}

}  // namespace weft::service
