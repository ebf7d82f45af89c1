#include "operator/cli/session.h"

#include <chrono>
#include <iostream>

#include "operator/cli/commands.h"
#include "operator/cli/sources.h"
#include "operator/cli/terminal.h"
#include "operator/manifest/reader.h"

namespace weft::cli {

namespace {

// Queues longer than this report how far they are.
constexpr std::size_t kLongQueue = 50;

std::int64_t SteadyMicroseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

}  // namespace

Result<decide::Cluster> ReadCluster(const std::vector<std::string>& files) {
  auto sources = ReadSources(files);
  if (!sources) return sources.error();
  auto inputs = manifest::ReadInputs(*sources);
  if (!inputs) return inputs.error();
  for (const std::string& note : inputs->notes) std::cerr << "weft: " << note << "\n";
  return decide::BuildCluster(*std::move(inputs));
}

Result<decide::PlanReport> PlanCluster(const decide::Cluster& cluster, const std::string& order,
                                       bool timed) {
  decide::PlanOptions options;
  if (order == "operator") options.order = decide::Order::kOperator;
  if (timed) options.microseconds = SteadyMicroseconds;
  options.progress = [](std::size_t done, std::size_t total) {
    if (total < kLongQueue || (done % kLongQueue != 0 && done != total)) return;
    Progress("weft: placed " + std::to_string(done) + " of " + std::to_string(total));
  };
  return decide::Plan(cluster, options);
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
