#include "operator/render/simulate_events.h"

#include <cstdio>

namespace weft::render {
namespace {

using simulate::Event;
using simulate::EventKind;

// A field of a CSV: in quotes if it holds a comma, a quote or the end of a line.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Seconds without zeros at the end: "12.5".
std::string InstantText(simulate::Micros time) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(time / simulate::kSecond),
                static_cast<long long>(time % simulate::kSecond));
  std::string seconds = text;
  seconds.erase(seconds.find_last_not_of('0') + 1);
  if (seconds.back() == '.') seconds.pop_back();
  return seconds;
}

bool IsAboutJob(EventKind kind) {
  return kind != EventKind::kLose && kind != EventKind::kCordon && kind != EventKind::kReturn;
}

}  // namespace

std::string EventLines(const std::string& run, const simulate::Scenario& scenario,
                       const std::vector<Event>& events) {
  const fabric::Fabric& fabric = *scenario.on->fabric;
  const std::string first = Field(run);
  std::string text;
  for (const Event& event : events) {
    text += first + "," + InstantText(event.time) + "," +
            std::string(simulate::EventName(event.kind)) + ",";
    if (IsAboutJob(event.kind)) {
      const simulate::Job& job = scenario.jobs[event.job];
      text += Field(job.name) + "," + std::to_string(scenario.shapes[job.shape].gpus) + ",";
    } else {
      text += ",,";
    }
    std::string nodes;
    for (const fabric::NodeIndex node : event.nodes) {
      nodes += (nodes.empty() ? "" : " ") + fabric.node(node).name;
    }
    text += Field(nodes) + "\n";
  }
  return text;
}

}  // namespace weft::render
