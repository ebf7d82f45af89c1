#include "tests/bench/quality_table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

namespace weft::quality {

double Column::Mean() const {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double Column::Worst() const {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

double Column::Quantile(double share) const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

void Cell::Add(const Measured& instance) {
  if (!instance.missed) over_best.values.push_back(instance.cost);
  over_bound.values.push_back(instance.over_bound);
  milliseconds.values.push_back(instance.milliseconds);
  missed += instance.missed ? 1 : 0;
  unknown += instance.known ? 0 : 1;
}

bool Cell::InGoal() const {
  return missed == 0 && over_best.Mean() <= kMostMean && over_best.Worst() <= kMostWorst;
}

void Table::PrintHeading() const {
  std::printf(
      "| family | workers | instances | over best: mean | worst | over own bound: mean | worst "
      "| preferences missed | ms: median | worst |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
}

void Table::Add(std::string_view family, std::uint32_t workers, const Cell& cell) {
  const std::string name(family);
  std::printf("| %s | %u | %zu | %.4f | %.4f | %.3f | %.3f | %u | %.1f | %.1f |\n", name.c_str(),
              workers, cell.milliseconds.values.size(), cell.over_best.Mean(),
              cell.over_best.Worst(), cell.over_bound.Mean(), cell.over_bound.Worst(), cell.missed,
              cell.milliseconds.Quantile(0.5), cell.milliseconds.Worst());
  std::fflush(stdout);
  const auto append = [](Column& all, const Column& more) {
    all.values.insert(all.values.end(), more.values.begin(), more.values.end());
  };
  append(all_.over_best, cell.over_best);
  append(all_.over_bound, cell.over_bound);
  append(all_.milliseconds, cell.milliseconds);
  all_.missed += cell.missed;
  all_.unknown += cell.unknown;
  ++cells_;
  if (cell.InGoal()) return;
  char text[160];
  std::snprintf(text, sizeof text, "%s %u (%.4f / %.4f%s)", name.c_str(), workers,
                cell.over_best.Mean(), cell.over_best.Worst(),
                cell.missed > 0 ? ", preferences missed" : "");
  outside_.emplace_back(text);
}

void Table::PrintSummary() const {
  std::printf(
      "\nAll %zu instances: over best mean %.5f, worst %.4f; over own bound mean %.4f, worst %.3f; "
      "preferences missed %u; ms median %.1f, mean %.1f, worst %.1f; not searched before %u. "
      "%zu of %zu cells above %.3f mean or %.2f worst",
      all_.milliseconds.values.size(), all_.over_best.Mean(), all_.over_best.Worst(),
      all_.over_bound.Mean(), all_.over_bound.Worst(), all_.missed, all_.milliseconds.Quantile(0.5),
      all_.milliseconds.Mean(), all_.milliseconds.Worst(), all_.unknown, outside_.size(), cells_,
      kMostMean, kMostWorst);
  for (std::size_t i = 0; i < outside_.size(); ++i) {
    std::printf("%s%s", i == 0 ? ": " : "; ", outside_[i].c_str());
  }
  std::printf(".\n");
}

}  // namespace weft::quality
