#include "operator/cli/session.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "operator/cli/accelerator_file.h"
#include "operator/cli/cluster_source.h"
#include "operator/cli/commands.h"
#include "operator/cli/live_view.h"
#include "operator/cluster/build_cluster.h"
#include "operator/cluster/overlay.h"
#include "operator/life/as_of.h"
#include "operator/manifest/inputs.h"
#include "operator/manifest/locate.h"
#include "operator/manifest/writer.h"
#include "operator/program/sources.h"
#include "operator/program/terminal.h"
#include "operator/watch/store_sink.h"

namespace weft::cli {

namespace {

// Longer queues report their progress.
constexpr std::size_t kLongQueue = 50;
// The most live objects that cannot be read and are named one by one.
constexpr std::size_t kMostSkipped = 10;
// The reason of plan::Plan for an invalid workload.
constexpr std::string_view kInvalid = "Invalid";
constexpr std::chrono::seconds kBetweenLooks{1};  // pause between looks at a watched cluster
constexpr const char* kClear = "\x1b[H\x1b[2J";

// One process has one standard output.
bool watching = false;

std::string FirstLines(const std::string& text, int lines) {
  std::size_t end = 0;
  for (int line = 0; line < lines && end < text.size(); ++line) {
    end = std::min(text.find('\n', end), text.size() - 1) + 1;
  }
  return text.substr(0, end);
}

std::int64_t SteadyMicroseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

Result<api::Inputs> ReadFiles(const std::vector<std::string>& files, api::Reading reading) {
  auto sources = program::ReadSources(files);
  if (!sources) return sources.error();
  return manifest::ReadInputs(*sources, {}, reading);
}

void NameSkipped(const std::vector<std::string>& skipped) {
  for (std::size_t i = 0; i < skipped.size() && i < kMostSkipped; ++i) {
    std::cerr << "weft: skipped: " << skipped[i] << "\n";
  }
  if (skipped.size() <= kMostSkipped) return;
  std::cerr << "weft: skipped " << skipped.size() - kMostSkipped << " more objects\n";
}

Kinds KindsOf(const InputArguments& input) {
  return input.queues ? Kinds::kQueues : Kinds::kDecisions;
}

Result<LiveObjects> ReadOnce(const InputArguments& input) {
  return ReadLiveCluster(
      {input.kubeconfig, input.context},
      [](const std::string& line) { program::Progress("weft: " + line); }, KindsOf(input));
}

Result<api::Inputs> ReadLive(const InputArguments& input, api::Reading of_files) {
  Result<api::Inputs> wanted = api::Inputs();
  if (!input.files.empty()) wanted = ReadFiles(input.files, of_files);
  if (!wanted) return wanted.error();
  Result<LiveObjects> live =
      input.view ? Result<LiveObjects>({input.view->TakeSnapshot(), {}}) : ReadOnce(input);
  if (!live) return live.error();
  NameSkipped(live->skipped);
  life::SetTimes(live->inputs, std::time(nullptr));
  return cluster::Overlay(std::move(live->inputs), *std::move(wanted));
}

std::string WithLine(const InputArguments& input, const std::string& message) {
  const auto sources = program::ReadSources(input.files);
  return sources ? manifest::WithLine(*sources, message) : message;
}

Result<api::Inputs> ReadAll(const InputArguments& input, api::Reading of_files) {
  if (input.files.empty() && !input.live()) {
    return Invalid(
        "no input: name manifests with -f FILE, or a cluster with --kubeconfig FILE, --context "
        "NAME or --cluster");
  }
  auto inputs = input.live() ? ReadLive(input, of_files) : ReadFiles(input.files, of_files);
  if (!inputs) return inputs.error();
  for (const std::string& note : inputs->notes) std::cerr << "weft: " << note << "\n";
  inputs->notes.clear();  // otherwise the answer would repeat them
  inputs->ignored.clear();
  auto added = ReadAccelerators(input.accelerators);
  if (!added) return added.error();
  inputs->accelerators = *std::move(added);
  const bool jobs = !inputs->jobs.empty() || !inputs->placements.empty();
  if (jobs && inputs->nodes.empty() && !input.live()) {
    std::cerr
        << "weft: the manifests hold no Node: add the cluster's nodes with -f cluster.yaml, or "
           "read a live cluster with --cluster\n";
  }
  return inputs;
}

}  // namespace

bool IsLive(const api::Place& place) {
  return place.starts_with(std::string(kClusterPlace) + ": ") ||
         place.starts_with(std::string(watch::kServedPlace) + ": ");
}

Result<cluster::Cluster> ReadCluster(const InputArguments& input, api::Reading of_files) {
  auto inputs = ReadAll(input, of_files);
  if (!inputs) return inputs.error();
  return cluster::BuildCluster(*std::move(inputs));
}

Result<QueuedCluster> ReadQueues(const InputArguments& input) {
  auto inputs = ReadAll(input, api::Reading::kStrict);
  if (!inputs) return inputs.error();
  const Result<cluster::Fabrics> fabrics = cluster::BuildFabrics(*inputs);
  if (!fabrics) return fabrics.error();
  std::vector<const fabric::FabricSpec*> specs;
  for (const auto& built : fabrics->built) specs.push_back(&built.fabric->spec());
  QueuedCluster read;
  read.waiting = life::WaitingWorkloads(*inputs, specs);
  life::AddAsked(read.waiting, *inputs);
  read.cluster = cluster::BuildCluster(*std::move(inputs), *fabrics);
  return read;
}

cluster::Order OrderOf(const InputArguments& input, const std::string& name) {
  const bool operators = name.empty() ? input.live() : name == "operator";
  return operators ? cluster::Order::kOperator : cluster::Order::kFile;
}

Result<plan::PlanReport> PlanCluster(const cluster::Cluster& cluster, const PlanChoice& choice) {
  plan::PlanOptions options;
  options.order = choice.order;
  options.place.limits = objective::LimitsOf(
      objective::FindEffort(choice.effort).value_or(objective::Effort::kNormal));
  options.refuse_invalid = true;
  options.heed_queues = true;
  options.reserve_after_seconds = choice.reserve_after_seconds;
  if (choice.timed) options.microseconds = SteadyMicroseconds;
  options.progress = [](std::size_t done, std::size_t total) {
    if (total < kLongQueue || (done % kLongQueue != 0 && done != total)) return;
    program::Progress("weft: placed " + std::to_string(done) + " of " + std::to_string(total));
  };
  Result<plan::PlanReport> report = plan::Plan(cluster, options);
  if (!report) return report;
  for (const std::size_t e : report->decided) {
    const plan::PlanEntry& entry = report->entries[e];
    if (entry.refused() == nullptr || entry.refused()->reason != kInvalid) continue;
    if (!IsLive(*entry.workload.place)) return Invalid(entry.refused()->message);
  }
  return report;
}

void KeepSpace(const std::string& space, plan::PlanReport& report) {
  if (space.empty()) return;
  constexpr std::size_t kGone = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> moved(report.entries.size(), kGone);
  std::vector<plan::PlanEntry> kept;
  for (std::size_t e = 0; e < report.entries.size(); ++e) {
    if (report.entries[e].workload.key().space != space) continue;
    moved[e] = kept.size();
    kept.push_back(std::move(report.entries[e]));
  }
  report.entries = std::move(kept);
  std::vector<std::size_t> decided;
  for (const std::size_t e : report.decided) {
    if (moved[e] != kGone) decided.push_back(moved[e]);
  }
  report.decided = std::move(decided);
}

std::string Encode(const nlohmann::ordered_json& value, const std::string& format) {
  return format == "json" ? value.dump(2) + "\n" : manifest::ToYaml(value);
}

int Fail(const Error& error, const InputArguments& input) {
  std::cerr << "weft: " << WithLine(input, error.message) << "\n";
  return error.kind == ErrorKind::kInvalid ? kBadInput : kFailed;
}

int Print(const std::string& text, int code, const std::string& what) {
  static std::optional<std::string> before;  // what was printed last
  if (!watching) {
    const Status written = program::WriteText("-", text);
    return written ? code : Fail(written.error());
  }
  const program::Terminal terminal = program::StandardOutput();
  const std::string& matters = terminal.rows > 0 || what.empty() ? text : what;
  if (before == matters) return code;
  const std::string between = before ? "\n" : "";
  before = matters;
  const Status written = program::WriteText(
      "-", terminal.rows > 0 ? kClear + FirstLines(text, terminal.rows - 1) : between + text);
  return written ? code : Fail(written.error());
}

int Watch(InputArguments& input, const std::function<int()>& command) {
  if (!input.live()) return Fail(Invalid("-w: needs a live cluster: add --cluster or --context"));
  if (std::find(input.files.begin(), input.files.end(), "-") != input.files.end()) {
    return Fail(Invalid("-w: standard input can be read only once"));
  }
  auto view = OpenLiveView({input.kubeconfig, input.context}, KindsOf(input));
  if (!view) return Fail(view.error());
  input.view = *std::move(view);
  watching = true;
  while (true) {
    const int code = command();
    if (code == kFailed || code == kBadInput) return code;
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

void Remark(const std::vector<cluster::Note>& notes) {
  for (const cluster::Note& note : notes) {
    std::cerr << "weft: " << cluster::SeverityName(note.severity) << ": " << note.reason << ": "
              << note.text << "\n";
  }
}

render::TextOptions TextStyle() {
  const program::Terminal terminal = program::StandardOutput();
  render::TextOptions style;
  style.colour = terminal.colour;
  style.columns = terminal.columns;
  return style;
}

}  // namespace weft::cli
