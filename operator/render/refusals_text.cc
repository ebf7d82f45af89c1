#include "operator/render/refusals_text.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "operator/base/phrases.h"
#include "operator/render/node_ranges.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using cluster::Note;
using plan::PlanEntry;
using plan::PlanReport;
using plan::Refused;

constexpr std::size_t kFewAlike = 3;  // so many stand singly, if their messages differ

std::string Name(const PlanEntry& entry) { return Printable(api::Show(entry.workload.key())); }

std::string Names(const std::vector<const PlanEntry*>& entries) {
  std::vector<std::string> names;
  for (const PlanEntry* entry : entries) names.push_back(Name(*entry));
  return NodeRanges(std::move(names));
}

// What refusals have in common whose messages differ in numbers alone.
using Kind = std::tuple<std::string, std::optional<std::size_t>, bool, fabric::Tier, std::string,
                        std::vector<std::pair<std::string, std::string>>, std::string>;

Kind KindOf(const PlanEntry& entry) {
  const Refused& refused = *entry.refused();
  // Without the solver's answer only equal messages are of one kind.
  if (!refused.why)
    return {refused.reason, entry.fabric, true, fabric::kOutside, "", {}, refused.message};
  std::vector<std::pair<std::string, std::string>> changes;
  for (const placement::Relaxation& one : refused.relaxations) {
    changes.emplace_back(one.constraint, one.change);
  }
  return {refused.reason,
          entry.fabric,
          refused.why->ever,
          refused.why->tier,
          refused.why->short_resource,
          std::move(changes),
          ""};
}

// The refused jobs by kind, each kind where its first job stands.
std::vector<std::vector<const PlanEntry*>> ByKind(const PlanReport& report) {
  std::vector<std::vector<const PlanEntry*>> groups;
  std::map<Kind, std::size_t> seen;
  for (const PlanEntry& entry : report.entries) {
    if (entry.refused() == nullptr) continue;
    const auto [at, fresh] = seen.emplace(KindOf(entry), groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(&entry);
  }
  return groups;
}

bool SameMessage(const std::vector<const PlanEntry*>& group) {
  return std::all_of(group.begin(), group.end(), [&](const PlanEntry* one) {
    return one->refused()->message == group.front()->refused()->message;
  });
}

std::string Single(const PlanEntry& entry, const TextOptions& options) {
  const Refused& refused = *entry.refused();
  return Paint(Name(entry), Colour::kRed, options.colour) + " (" + refused.reason + ")\n" +
         Wrap(std::string(kIndent, ' '), Printable(refused.message), kIndent, options.columns);
}

std::string Together(const std::vector<const PlanEntry*>& group, const TextOptions& options) {
  const Refused& first = *group.front()->refused();
  const std::string jobs = Counted(static_cast<std::int64_t>(group.size()), "job");
  const std::string lead = SameMessage(group) ? "" : "The first, " + Name(*group.front()) + ": ";
  const auto paragraph = [&](const std::string& text) {
    return Wrap(std::string(kIndent, ' '), text, kIndent, options.columns);
  };
  return Paint(jobs, Colour::kRed, options.colour) + " (" + first.reason + ")\n" +
         paragraph(lead + Printable(first.message)) + paragraph("Jobs: " + Names(group));
}

}  // namespace

std::string RefusalsText(const PlanReport& report, const TextOptions& options) {
  std::string out;
  bool numbers_left_out = false;
  for (const auto& group : ByKind(report)) {
    const bool same = SameMessage(group);
    if (group.size() > kFewAlike || (same && group.size() > 1)) {
      out += Together(group, options);
      numbers_left_out = numbers_left_out || !same;
    } else {
      for (const PlanEntry* entry : group) out += Single(*entry, options);
    }
  }
  if (out.empty()) return out;
  if (numbers_left_out) {
    out += Wrap(
        "",
        "Numbers and times of a group are those of its first job: weft explain JOB and -o json "
        "show those of the others.",
        0, options.columns);
  }
  return "\n" + Paint("Not placed", Colour::kBold, options.colour) + "\n" + out;
}

std::vector<Note> JobNotes(const PlanReport& report) {
  std::vector<std::pair<const Note*, std::vector<const PlanEntry*>>> groups;
  std::map<std::tuple<cluster::Severity, std::string, std::string>, std::size_t> seen;
  for (const PlanEntry& entry : report.entries) {
    for (const Note& note : entry.notes) {
      const auto [at, fresh] =
          seen.emplace(std::tuple(note.severity, note.reason, note.text), groups.size());
      if (fresh) groups.push_back({&note, {}});
      groups[at->second].second.push_back(&entry);
    }
  }
  std::vector<Note> notes;
  for (const auto& [note, jobs] : groups) {
    std::string text = Name(*jobs.front()) + ": " + note->text;
    if (jobs.size() > 1) {
      text = Counted(static_cast<std::int64_t>(jobs.size()), "job") + ": " + note->text + ": " +
             Names(jobs);
    }
    notes.push_back({note->severity, note->reason, std::move(text)});
  }
  return notes;
}

}  // namespace weft::render
