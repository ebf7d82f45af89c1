#include "operator/render/outlook_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "operator/base/phrases.h"
#include "operator/cluster/note.h"
#include "operator/outlook/step.h"
#include "operator/render/table.h"

namespace weft::render {
namespace {

using report::JobOutlook;

std::string Gigabytes(double bytes) { return BytesText(static_cast<Int128>(bytes)); }

std::vector<Cell> RowOf(const JobOutlook& job) {
  const outlook::Prediction& one = *job.prediction;
  const double seconds = one.step.Seconds();
  const double memory = one.memory.Total() / one.capacity;
  return {{Printable(job.job)},
          {Grouped(job.accelerators) + " x " + job.accelerator},
          {ShareText(memory), one.fits ? Colour::kNone : Colour::kRed},
          {SecondsText(seconds)},
          {"+-" + ShareText(one.error)},
          {ShareText(one.step.Exposed() / seconds)},
          {ShareText(one.step.bubble / seconds)},
          {ShareText(one.mfu)},
          {Grouped(std::llround(one.tokens_per_second))},
          {WattsText(one.watts)},
          {std::string(outlook::BoundBy(one.step))},
          {job.cost_per_hour ? Grouped(std::llround(*job.cost_per_hour)) : "-"}};
}

std::string PartsText(const outlook::Memory& memory) {
  return "weights " + Gigabytes(memory.weights) + ", gradients " + Gigabytes(memory.gradients) +
         ", optimizer " + Gigabytes(memory.optimizer) + ", activations " +
         Gigabytes(memory.activations) + ", other " + Gigabytes(memory.other);
}

std::string TooMuchText(const JobOutlook& job) {
  const outlook::Prediction& one = *job.prediction;
  std::string text = job.job + " does not fit: a GPU would hold " + Gigabytes(one.memory.Total()) +
                     " (" + PartsText(one.memory) + ") and has " + Gigabytes(one.capacity) + ". ";
  if (!one.change) return text + "No change of up to three settings makes it fit on as many GPUs.";
  return text + "It fits in " + Gigabytes(one.change->total) + " with " + one.change->text + ".";
}

}  // namespace

std::string CalibrationText(const outlook::Prediction& prediction, bool with_error) {
  const outlook::Calibration& by = *prediction.calibration;
  const std::string error = with_error ? " (+-" + ShareText(prediction.error) + ")" : "";
  std::string_view on = by.fitted_on;
  // The row "Assumed" says so by its name.
  constexpr std::string_view kAssumed = "assumed: ";
  if (by.name == "Assumed" && on.starts_with(kAssumed)) on.remove_prefix(kAssumed.size());
  return outlook::CalibrationName(prediction) + error + ": " + std::string(on) + ".";
}

std::string OutlookText(const report::OutlookReport& report, const TextOptions& options) {
  const Align right = Align::kRight;
  std::vector<Table::Column> columns = {{"JOB"},           {"ACCELERATORS"}, {"MEMORY", right},
                                        {"STEP", right},   {"ERROR", right}, {"EXPOSED", right},
                                        {"BUBBLE", right}, {"MFU", right},   {"TOKENS/S", right},
                                        {"POWER", right},  {"BOUND BY"}};
  const auto priced = std::find_if(report.jobs.begin(), report.jobs.end(),
                                   [](const JobOutlook& job) { return !job.currency.empty(); });
  if (priced != report.jobs.end()) columns.push_back({Printable(priced->currency) + "/H", right});
  Table table(std::move(columns));
  std::string sentences;
  std::set<std::string> sources;
  for (const JobOutlook& job : report.jobs) {
    if (!job.prediction) continue;
    table.Add(RowOf(job));
    sources.insert(CalibrationText(*job.prediction, false));
    if (job.learned) {
      sentences +=
          Wrap("",
               Printable(job.job) + ": the step is " + std::to_string(job.learned->percent) +
                   " % of what the calibration alone says, by the learned scalar " +
                   Printable(job.learned->key) + " with " +
                   CountText(job.learned->observations, "observation") + " behind it.",
               2, options.columns);
    }
    for (const std::string& note : job.notes) {
      sentences += Wrap("", Printable(job.job + ": " + note) + ".", 2, options.columns);
    }
    if (!job.prediction->fits) {
      sentences += Wrap("", Printable(TooMuchText(job)), 2, options.columns);
    }
  }
  std::string text = table.empty() ? "" : table.Show(options.colour);
  if (!sentences.empty()) text += "\n" + sentences;
  for (const cluster::Note& note : report.notes) {
    text += Wrap("", Printable(note.text), 2, options.columns);
  }
  if (!sources.empty()) text += "\nPredicted with these calibrations (operator/docs/outlook.md):\n";
  for (const std::string& source : sources) text += Wrap("  ", source, 4, options.columns);
  return text.empty() ? "No job to predict.\n" : text;
}

}  // namespace weft::render
