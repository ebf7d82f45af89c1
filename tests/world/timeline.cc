#include "tests/world/timeline.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "operator/render/map_input.h"
#include "operator/render/page_style.h"
#include "tests/world/actor.h"

namespace weft::world {
namespace {

using render::EscapeXml;

constexpr double kWide = 1'240, kLabelsWide = 190;
constexpr double kRow = 11, kThin = 5;

constexpr const char* kHead = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A day in virtual time</title><link rel="icon" href="data:,"><style>
)";
constexpr const char* kStyle = R"(*{box-sizing:border-box}
body{margin:20px 24px;background:var(--weft-page);color:var(--weft-ink);
font:14px/1.45 system-ui,sans-serif}
h1{font-size:20px;margin:0 0 4px}h2{font-size:15px;margin:14px 0 4px}
p{margin:0 0 10px;color:var(--weft-dim);max-width:80em}
.bad{color:var(--weft-bad)}
.wide{overflow-x:auto;background:var(--weft-box);border:1px solid var(--weft-line);
border-radius:6px;padding:8px}
svg text{fill:var(--weft-dim);font-size:9px}
.groove{fill:var(--weft-groove)}.axis{stroke:var(--weft-line)}
.Pending{fill:#9aa5b1}.Placed{fill:#e0a800}.Running{fill:#2e7d32}.Restarting{fill:#c75b12}
.Suspended{fill:#7e57c2}.Complete{fill:#1565c0}.Failed{fill:#b3261e}.Deleting{fill:#6d4c41}
.used{fill:#2e7d32}.shared{fill:#1565c0}.down{fill:#b3261e}.leads{fill:#1565c0}
.writes{fill:#1565c0}.refused{fill:#b3261e}.fault{stroke:var(--weft-bad);stroke-width:1.5}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:0 0 8px;padding:0}
.legend svg{margin-right:5px}
</style></head><body>
)";

std::string NumberText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", value);
  return text;
}

double SecondsOf(Instant at) {
  return std::chrono::duration<double>(at.time_since_epoch()).count();
}

std::string Clock(Instant at) {
  const auto all = static_cast<long long>(SecondsOf(at));
  char text[32];
  std::snprintf(text, sizeof text, "%lld:%02lld:%02lld", all / 3'600, all / 60 % 60, all % 60);
  return text;
}

// Of a batch/v1 Job, which has no condition for it.
bool WorkersAreReady(const Json& job) {
  const Json status = job.value("status", Json::object());
  const int ready = status.value("ready", 0);
  return ready > 0 && ready + status.value("succeeded", 0) >= job["spec"].value("completions", 0);
}

std::string PhaseOf(const Json& job) {
  if (IsDeleting(job)) return "Deleting";
  for (const char* type : {"Complete", "Failed", "Restarting", "Suspended"}) {
    if (IsTrue(job, type)) return type;
  }
  if (IsTrue(job, "PodsReady") || WorkersAreReady(job)) return "Running";
  return IsTrue(job, "Placed") ? "Placed" : "Pending";
}

std::string WhyOf(const Json& job) {
  std::string words;
  const Json status = job.value("status", Json::object());
  for (const Json& one : status.value("conditions", Json::array())) {
    words += "\n" + one.value("type", "") + "=" + one.value("status", "") + " " +
             one.value("reason", "") + ": " + one.value("message", "");
  }
  return words;
}

// The drawing of one group of rows.
class Drawing {
 public:
  Drawing(double rows_high, Instant end) : high_(rows_high + 18), end_(SecondsOf(end)) {}

  double X(Instant at) const {
    return kLabelsWide + (kWide - kLabelsWide) * SecondsOf(at) / std::max(1.0, end_);
  }
  void Bar(Instant begin, Instant end, double y, double high, const std::string& kind,
           const std::string& words) {
    const double x = X(begin), wide = std::max(0.6, X(end) - x);
    body_ += "<rect class=\"" + kind + "\" x=\"" + NumberText(x) + "\" y=\"" + NumberText(y) +
             "\" width=\"" + NumberText(wide) + "\" height=\"" + NumberText(high) + "\"><title>" +
             EscapeXml(words) + "</title></rect>";
  }
  void Line(Instant at, double high, const std::string& words) {
    const std::string x = NumberText(X(at));
    body_ += "<line class=\"fault\" x1=\"" + x + "\" x2=\"" + x + "\" y1=\"0\" y2=\"" +
             NumberText(high) + "\"><title>" + EscapeXml(words) + "</title></line>";
  }
  void Label(double y, const std::string& text) {
    body_ +=
        "<text x=\"0\" y=\"" + NumberText(y) + "\">" + EscapeXml(text.substr(0, 34)) + "</text>";
  }
  void Groove(double y, double high) {
    body_ += "<rect class=\"groove\" x=\"" + NumberText(kLabelsWide) + "\" y=\"" + NumberText(y) +
             "\" width=\"" + NumberText(kWide - kLabelsWide) + "\" height=\"" + NumberText(high) +
             "\"/>";
  }
  std::string Svg() const {
    std::string text = "<div class=\"wide\"><svg width=\"" + NumberText(kWide) + "\" height=\"" +
                       NumberText(high_) + "\">" + body_;
    constexpr int kTicks = 12;
    for (int i = 0; i <= kTicks; ++i) {
      const double at = end_ * i / kTicks;
      const double x = kLabelsWide + (kWide - kLabelsWide - 30) * i / kTicks;
      text += "<text x=\"" + NumberText(x) + "\" y=\"" + NumberText(high_ - 4) + "\">" +
              Clock(Instant{} +
                    std::chrono::duration_cast<Instant::duration>(std::chrono::duration<double>(
                        at * (kWide - kLabelsWide - 30) / (kWide - kLabelsWide)))) +
              "</text>";
    }
    return text + "</svg></div>\n";
  }

 private:
  double high_, end_;
  std::string body_;
};

}  // namespace

// The last part of a row is open; it ends where another kind begins.
void Timeline::Set(std::map<std::string, Row>& rows, const std::string& name, Instant now,
                   const std::string& kind, const std::string& words) {
  Row& row = rows[name];
  if (!row.empty() && row.back().end == Instant::max()) {
    if (row.back().kind == kind) {
      row.back().words = words;
      return;
    }
    row.back().end = now;
  }
  if (!kind.empty()) row.push_back({now, Instant::max(), kind, words});
}

void Timeline::OnChange(const Change& change, Instant now) {
  if (change.resource == "trainingjobs.weft.dev" || change.resource == "jobs.batch") {
    OnJob(change, now);
  }
  if (change.resource == "pods") OnPod(change, now);
  if (change.resource == "nodes") OnNode(change, now);
  if (change.resource == "leases.coordination.k8s.io") OnLease(change, now);
}

void Timeline::OnJob(const Change& change, Instant now) {
  const std::string name = api::Show(change.key);
  if (!jobs_.contains(name)) order_.push_back(name);
  const bool gone = change.type == Change::Type::kDeleted;
  const std::string phase = gone ? "" : PhaseOf(*change.object);
  Set(jobs_, name, now, phase, name + " " + phase + WhyOf(*change.object));
}

void Timeline::OnPod(const Change& change, Instant now) {
  const std::string node = TextAt(*change.object, {"spec", "nodeName"});
  if (node.empty()) return;
  const std::string phase = TextAt(*change.object, {"status", "phase"});
  auto& pods = on_node_[node];
  if (change.type == Change::Type::kDeleted || phase == "Succeeded" || phase == "Failed") {
    pods.erase(api::Show(change.key));
  } else {
    pods[api::Show(change.key)] = phase;
  }
  if (down_[node]) return;
  std::string words = node;
  for (const auto& [pod, is] : pods) words += "\n" + pod + " " + is;
  Set(nodes_, node, now, pods.empty() ? "" : pods.size() == 1 ? "used" : "shared", words);
}

void Timeline::OnNode(const Change& change, Instant now) {
  const std::string& name = change.key.name;
  nodes_[name];  // also a node without pods has a row
  const bool down = change.type == Change::Type::kDeleted || !IsTrue(*change.object, "Ready");
  if (std::exchange(down_[name], down) == down) return;
  Set(nodes_, name, now, down ? "down" : "", name + (down ? " is not Ready" : ""));
}

void Timeline::OnLease(const Change& change, Instant now) {
  const std::string holder = TextAt(*change.object, {"spec", "holderIdentity"});
  for (auto& [name, row] : leaders_) {
    if (name != holder) Set(leaders_, name, now, "", "");
  }
  if (!holder.empty()) Set(leaders_, holder, now, "leads", holder + " leads");
}

void Timeline::OnFault(const std::string& what, Instant now) {
  faults_.push_back({now, Clock(now) + " " + what});
}

void Timeline::OnSent(const Sent& sent, Instant now) {
  const bool read = sent.request.method == kube::Method::kGet;
  if (!read && sent.request.path.find("/leases/") != std::string::npos) return;
  Counts& counts = sent_[sent.machine][static_cast<std::size_t>(SecondsOf(now)) / 60];
  ++(read ? counts.reads : sent.answer.status >= 400 ? counts.refused : counts.writes);
}

std::string Timeline::Writes(Instant end) const {
  std::string page =
      "<h2>Writes in a minute</h2>\n<p>Blue: answered; red: refused. Without the Lease.</p>\n";
  constexpr double kHigh = 40;
  for (const auto& [machine, minutes] : sent_) {
    std::size_t most = 0;
    for (const auto& [minute, one] : minutes) most = std::max(most, one.writes + one.refused);
    if (most == 0) continue;
    Drawing drawing(kHigh, end);
    drawing.Label(9, machine + ", most " + std::to_string(most));
    for (const auto& [minute, one] : minutes) {
      if (one.writes + one.refused == 0) continue;
      const Instant at = Instant{} + std::chrono::minutes(minute);
      const double unit = kHigh / static_cast<double>(most);
      const double writes = unit * static_cast<double>(one.writes);
      const double refused = unit * static_cast<double>(one.refused);
      const std::string words = Clock(at) + ": " + std::to_string(one.writes) + " writes, " +
                                std::to_string(one.refused) + " refused";
      drawing.Bar(at, at + std::chrono::minutes(1), kHigh - writes, writes, "writes", words);
      drawing.Bar(at, at + std::chrono::minutes(1), kHigh - writes - refused, refused, "refused",
                  words);
    }
    page += drawing.Svg();
  }
  return page;
}

std::string Timeline::Page(const std::string& title, const std::vector<std::string>& broken,
                           Instant end) const {
  const auto draw = [&](const std::map<std::string, Row>& rows,
                        const std::vector<std::string>& names, double high) {
    Drawing drawing(high * static_cast<double>(names.size()), end);
    double y = 0;
    for (const std::string& name : names) {
      if (high >= kRow) drawing.Label(y + 8, name);
      drawing.Groove(y, high - 1);
      for (const Part& part : rows.at(name)) {
        const Instant until = std::min(part.end, end);
        drawing.Bar(part.begin, until, y, high - 1, part.kind,
                    Clock(part.begin) + " to " + Clock(until) + "\n" + part.words);
      }
      y += high;
    }
    return drawing.Svg();
  };
  const auto names = [](const std::map<std::string, Row>& rows) {
    std::vector<std::string> all;
    for (const auto& [name, row] : rows) all.push_back(name);
    return all;
  };
  std::string page = kHead + std::string(render::kPageColours) + kStyle;
  page += "<h1>" + EscapeXml(title) + "</h1>\n";
  for (const std::string& one : broken) page += "<p class=\"bad\">" + EscapeXml(one) + "</p>\n";
  page += "<p>Point at a bar to read what it was. Times are hours from the beginning.</p>\n";
  page += "<ul class=\"legend\">";
  for (const char* kind : {"Pending", "Placed", "Running", "Restarting", "Suspended", "Complete",
                           "Failed", "Deleting"}) {
    page += std::string("<li><svg width=\"11\" height=\"11\"><rect class=\"") + kind +
            "\" width=\"11\" height=\"11\"/></svg>" + kind + "</li>";
  }
  page += "</ul>\n<h2>Faults</h2>\n";
  Drawing faults(kRow * 2, end);
  faults.Groove(0, kRow * 2);
  for (const Mark& one : faults_) faults.Line(one.at, kRow * 2, one.words);
  page += faults.Svg();
  page += "<h2>Leaders</h2>\n" + draw(leaders_, names(leaders_), kRow);
  page += "<h2>Jobs</h2>\n" + draw(jobs_, order_, kRow);
  page += "<h2>Nodes</h2>\n<p>Green: a pod; blue: several; red: not Ready.</p>\n" +
          draw(nodes_, names(nodes_), kThin);
  return page + Writes(end) + "</body></html>\n";
}

}  // namespace weft::world
