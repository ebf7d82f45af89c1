#include "operator/cli/session.h"

#include <chrono>
#include <ctime>
#include <iostream>

#include "operator/cli/cluster_source.h"
#include "operator/cli/commands.h"
#include "operator/cli/sources.h"
#include "operator/cli/terminal.h"
#include "operator/decide/as_of.h"
#include "operator/decide/overlay.h"
#include "operator/manifest/reader.h"

namespace weft::cli {

namespace {

// Queues longer than this report how far they are.
constexpr std::size_t kLongQueue = 50;
// Live objects that cannot be read and are named one by one.
constexpr std::size_t kMostSkipped = 10;
// What decide::Plan calls a workload that is wrong in itself.
constexpr std::string_view kInvalid = "Invalid";

std::int64_t SteadyMicroseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

Result<api::Inputs> ReadFiles(const std::vector<std::string>& files) {
  auto sources = ReadSources(files);
  if (!sources) return sources.error();
  return manifest::ReadInputs(*sources);
}

void NameSkipped(const std::vector<std::string>& skipped) {
  for (std::size_t i = 0; i < skipped.size() && i < kMostSkipped; ++i) {
    std::cerr << "weft: skipped: " << skipped[i] << "\n";
  }
  if (skipped.size() <= kMostSkipped) return;
  std::cerr << "weft: skipped " << skipped.size() - kMostSkipped << " more objects\n";
}

Result<api::Inputs> ReadLive(const InputArguments& input) {
  Result<api::Inputs> wanted = api::Inputs();
  if (!input.files.empty()) wanted = ReadFiles(input.files);
  if (!wanted) return wanted.error();
  Result<LiveObjects> live =
      ReadLiveCluster({input.kubeconfig, input.context},
                      [](const std::string& line) { Progress("weft: " + line); });
  if (!live) return live.error();
  NameSkipped(live->skipped);
  decide::TellTime(live->inputs, std::time(nullptr));
  return decide::Overlay(std::move(live->inputs), *std::move(wanted));
}

bool IsLive(const api::Place& place) {
  return place.starts_with(std::string(kClusterPlace) + ": ");
}

}  // namespace

Result<decide::Cluster> ReadCluster(const InputArguments& input) {
  if (input.files.empty() && !input.live()) {
    return Invalid(
        "no input: name manifests with -f FILE, or a cluster with --kubeconfig FILE, --context "
        "NAME or --cluster");
  }
  auto inputs = input.live() ? ReadLive(input) : ReadFiles(input.files);
  if (!inputs) return inputs.error();
  for (const std::string& note : inputs->notes) std::cerr << "weft: " << note << "\n";
  return decide::BuildCluster(*std::move(inputs));
}

decide::Order OrderOf(const InputArguments& input, const std::string& name) {
  const bool operators = name.empty() ? input.live() : name == "operator";
  return operators ? decide::Order::kOperator : decide::Order::kFile;
}

Result<decide::PlanReport> PlanCluster(const decide::Cluster& cluster, const PlanChoice& choice) {
  decide::PlanOptions options;
  options.order = choice.order;
  options.refuse_invalid = true;
  if (choice.timed) options.microseconds = SteadyMicroseconds;
  options.progress = [](std::size_t done, std::size_t total) {
    if (total < kLongQueue || (done % kLongQueue != 0 && done != total)) return;
    Progress("weft: placed " + std::to_string(done) + " of " + std::to_string(total));
  };
  Result<decide::PlanReport> report = decide::Plan(cluster, options);
  if (!report) return report;
  for (const std::size_t e : report->decided) {
    const decide::PlanEntry& entry = report->entries[e];
    if (entry.refused() == nullptr || entry.refused()->reason != kInvalid) continue;
    if (!IsLive(*entry.workload.place)) return Invalid(entry.refused()->message);
  }
  return report;
}

int Fail(const Error& error) {
  std::cerr << "weft: " << error.message << "\n";
  return error.kind == ErrorKind::kInvalid ? kBadInput : kFailed;
}

int Print(const std::string& text, int code) {
  const Status written = WriteText("-", text);
  return written ? code : Fail(written.error());
}

void Remark(const std::vector<decide::Note>& notes) {
  for (const decide::Note& note : notes) {
    std::cerr << "weft: " << decide::SeverityName(note.severity) << ": " << note.reason << ": "
              << note.text << "\n";
  }
}

render::TextOptions TextStyle() {
  const Terminal terminal = StandardOutput();
  render::TextOptions style;
  style.colour = terminal.colour;
  style.columns = terminal.columns;
  return style;
}

}  // namespace weft::cli
