#include <nlohmann/json.hpp>
#include <set>

#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/reader.h"
#include "operator/program/sources.h"
#include "operator/render/spares_text.h"
#include "operator/report/spares.h"

namespace weft::cli {
namespace {

// The levels of all Fabrics, of which a file may give the rates.
std::set<std::string> LevelsOf(const cluster::Cluster& cluster) {
  std::set<std::string> levels;
  for (const cluster::ClusterFabric& on : cluster.fabrics) {
    for (const fabric::TierInfo& tier : on.fabric->tiers()) levels.insert(tier.name);
  }
  levels.erase("outside");
  levels.erase("node");
  return levels;
}

Result<report::FailureFile> ReadFailureFile(const std::string& path,
                                            const std::set<std::string>& levels) {
  const auto source = program::ReadSource(path);
  if (!source) return source.error();
  const auto document = manifest::ReadDocument(*source);
  if (!document) return document.error();
  auto file = report::DecodeFailureFile(*document, source->name, levels);
  if (file) return file;
  return Error{file.error().kind, manifest::WithLine({*source}, file.error().message)};
}

Result<report::FailureSources> SourcesOf(const SparesArguments& arguments,
                                         const cluster::Cluster& cluster) {
  report::FailureSources sources;
  if (arguments.failures_given) sources.per_1000_node_days = arguments.failures;
  if (arguments.repair_given) sources.repair_seconds = arguments.repair_seconds;
  if (!arguments.failure_model.empty()) {
    auto file = ReadFailureFile(arguments.failure_model, LevelsOf(cluster));
    if (!file) return file.error();
    sources.file = *std::move(file);
  }
  return sources;
}

}  // namespace

int RunAdviseSpares(const AdviseArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input, api::Reading::kModel);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  const auto sources = SourcesOf(arguments.spares, *cluster);
  if (!sources) return Fail(sources.error());
  const auto advice = report::AdviseSpares(*cluster, *sources);
  if (!advice) return Fail(advice.error(), arguments.input);
  for (const report::RefusedJob& job : advice->refused) {
    if (job.invalid && !IsLive(job.place)) return Fail(Invalid(job.message), arguments.input);
  }
  for (const report::RefusedJob& job : advice->refused) {
    if (job.invalid) Remark({{cluster::Severity::kWarning, "Invalid", job.message}});
  }
  if (arguments.output == "table") return Print(render::SparesText(*advice, TextStyle()), kDone);
  return Print(Encode(report::SparesJson(*advice), arguments.output), kDone);
}

}  // namespace weft::cli
