#include "operator/render/queue_text.h"

#include "operator/base/phrases.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::QueueRow;

// More jobs are explained only in the wide form.
constexpr std::size_t kMostExplained = 10;

Colour ColourOf(const QueueRow& row) {
  if (row.never) return Colour::kRed;
  if (!row.start.within_seconds) return Colour::kYellow;
  return row.reason.empty() ? Colour::kGreen : Colour::kNone;
}

std::string NameOf(const QueueRow& row) {
  const std::string name = Printable(api::Show(row.key));
  return row.kind == "TrainingJob" ? name : name + " (" + row.kind + ")";
}

std::string QueueTable(const std::vector<QueueRow>& queue, const TextOptions& options) {
  Table table({{"POSITION", Align::kRight},
               {"JOB"},
               {"PRIORITY", Align::kRight},
               {"WORKERS", Align::kRight},
               {"GPUS", Align::kRight},
               {"WAITED", Align::kRight},
               {"STARTS"},
               {"WHY"}});
  for (const QueueRow& row : queue) {
    table.Add({{row.position == 0 ? "-" : std::to_string(row.position)},
               {NameOf(row)},
               {std::to_string(row.priority)},
               {Grouped(row.workers)},
               {Grouped(row.accelerators)},
               {row.waited_seconds ? DurationText(*row.waited_seconds) : "-"},
               {Printable(report::StartText(row)), ColourOf(row)},
               {row.reason.empty() ? "-" : Printable(row.reason)}});
  }
  return table.Show(options.colour);
}

std::string Reasons(const std::vector<QueueRow>& queue, const TextOptions& options, bool wide) {
  std::string text;
  std::size_t explained = 0, left = 0;
  for (const QueueRow& row : queue) {
    if (row.why.empty()) continue;
    if (!wide && explained == kMostExplained) {
      ++left;
      continue;
    }
    ++explained;
    text += Wrap("", NameOf(row) + ": " + Printable(row.why), kIndent, options.columns);
  }
  if (text.empty()) return "";
  if (left > 0) {
    text += Counted(static_cast<std::int64_t>(left), "more job") +
            (left == 1 ? " waits" : " wait") + "; -o wide says why.\n";
  }
  return "\n" + Paint("Why they wait", Colour::kBold, options.colour) + "\n" + text;
}

}  // namespace

std::string QueueText(const std::vector<QueueRow>& queue, const TextOptions& options, bool wide) {
  if (queue.empty()) return "No job waits for nodes.\n";
  return QueueTable(queue, options) + Reasons(queue, options, wide);
}

}  // namespace weft::render
