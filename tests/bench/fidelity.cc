// How well outlook predicts measured steps and memory.
//
//   fidelity FOLDER [--plot FILE.svg] [--rows] [--fit]
//
// FOLDER holds the published tables as CSV. Prints Markdown: for each table the mean absolute error
// of the step on rows that the calibration was fitted on and on those that were held back, and how
// many of these lie inside the predicted band; the order of layouts; the layout that advise ranks
// first against the best measured one; memory. --rows lists every row
// on standard error, --fit fits all constants again and prints them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>

#include "operator/outlook/memory.h"
#include "tests/bench/fidelity_fit.h"
#include "tests/bench/fidelity_plot.h"
#include "tests/bench/fidelity_rows.h"

namespace weft::fidelity {
namespace {

double ErrorOf(const Row& row) {
  return Predict(row, outlook::FindCalibration(row.calibration)) / row.seconds - 1;
}

struct Errors {
  double sum = 0, worst = 0;
  std::size_t rows = 0, inside = 0;

  void Add(double error, double band) {
    sum += std::abs(error);
    worst = std::max(worst, std::abs(error));
    ++rows;
    // The band is around the prediction: measured between (1 - band) and (1 + band) of it.
    const double measured = 1 / (1 + error);
    inside += std::abs(measured - 1) <= band ? 1 : 0;
  }
  double MeanPercent() const { return rows == 0 ? 0 : 100 * sum / static_cast<double>(rows); }
};

void PrintSteps(const std::vector<Table>& tables) {
  std::printf(
      "| table | fitted rows | mean error | held back | mean error | worst | goal | in band |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Table& table : tables) {
    Errors fitted, held;
    for (const Row& row : table.rows) {
      const double band = outlook::FindCalibration(row.calibration).error;
      (row.fitted ? fitted : held).Add(ErrorOf(row), band);
    }
    const std::string goal =
        table.goal_percent > 0 ? std::to_string(table.goal_percent).substr(0, 4) + " %" : "";
    std::printf("| %s | %zu | %.1f %% | %zu | %.1f %% | %.0f %% | %s | %.0f %% |\n",
                table.name.c_str(), fitted.rows, fitted.MeanPercent(), held.rows,
                held.MeanPercent(), 100 * held.worst, goal.c_str(),
                100 * static_cast<double>(held.inside) / static_cast<double>(held.rows));
  }
}

// Tokens a second of one GPU.
double Rate(const Row& row, double seconds) {
  return static_cast<double>(row.layout.model.global_batch_size) *
         static_cast<double>(row.layout.model.sequence_length) /
         (seconds * static_cast<double>(row.layout.ranks));
}

// Of two layouts of one model and release that differ by more than 5 %, which is faster.
void PrintOrder(const Table& table) {
  std::map<std::string, std::vector<const Row*>> families;
  for (const Row& row : table.rows) families[row.family].push_back(&row);
  int right = 0, pairs = 0, held_right = 0, held = 0;
  for (const auto& [name, rows] : families) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const double measured = Rate(*rows[i], rows[i]->seconds) / Rate(*rows[j], rows[j]->seconds);
        if (std::abs(measured - 1) <= 0.05) continue;
        const double ratio = measured * (1 + ErrorOf(*rows[j])) / (1 + ErrorOf(*rows[i]));
        const bool same = (measured > 1) == (ratio > 1);
        right += same ? 1 : 0;
        ++pairs;
        if (rows[i]->fitted || rows[j]->fitted) continue;
        held_right += same ? 1 : 0;
        ++held;
      }
    }
  }
  std::printf(
      "\nOrder of two layouts (%s, one model and release, more than 5 %% apart): right in %d "
      "of %d pairs; in %d of %d whose rows were both held back; goal 95 %%.\n",
      table.name.c_str(), right, pairs, held_right, held);
}

// What `advise` does not choose: model, accelerators, precision, software, and the batch.
std::string QuestionOf(const Row& row, bool any_batch) {
  const traffic::Transformer& model = row.layout.model;
  std::string text = row.family + " " + std::string(row.accelerator.name) + " " + row.calibration;
  for (const auto number :
       {static_cast<std::int64_t>(row.machines.accelerators), row.layout.ranks, model.parameters,
        model.hidden_size, model.layers, model.attention_heads, model.sequence_length,
        any_batch ? 0 : model.global_batch_size, static_cast<std::int64_t>(model.precision)}) {
    text += " " + std::to_string(number);
  }
  return text;
}

bool SaidToFit(const Row& row) {
  const auto& calibration = outlook::FindCalibration(row.calibration);
  return outlook::MemoryPerGPU(row.layout, calibration.attention).Total() <=
         outlook::UsableMemory(row.accelerator);
}

// The row that `advise` ranks first: of those that it says fit, the one with most predicted tokens
// a second; null if it says that none fits.
const Row* FirstOf(const std::vector<const Row*>& rows) {
  const Row* first = nullptr;
  double most = 0;
  for (const Row* row : rows) {
    const double rate = Rate(*row, row->seconds * (1 + ErrorOf(*row)));
    if (!SaidToFit(*row) || rate <= most) continue;
    first = row;
    most = rate;
  }
  return first;
}

// What advise's first layouts of a table lose against the best measured ones.
struct Choices {
  std::size_t asked = 0, layouts = 0, silent = 0, best = 0, near = 0;
  double sum = 0, worst = 0;

  void Add(const Table& table, const std::vector<const Row*>& rows) {
    ++asked;
    layouts += rows.size();
    const Row* first = FirstOf(rows);
    if (first == nullptr) {
      ++silent;
      return;
    }
    double most = 0;
    for (const Row* row : rows) most = std::max(most, Rate(*row, row->seconds));
    const double above = most / Rate(*first, first->seconds) - 1;
    best += above == 0 ? 1 : 0;
    near += above <= 0.05 ? 1 : 0;
    sum += above;
    worst = std::max(worst, above);
    std::fprintf(stderr,
                 "advise's first of %zu layouts takes %.1f %% longer than the best: %s: %s\n",
                 rows.size(), 100 * above, table.name.c_str(), first->label.c_str());
  }
};

Choices ChoicesOf(const Table& table, bool any_batch) {
  std::map<std::string, std::vector<const Row*>> questions;
  for (const Row& row : table.rows) questions[QuestionOf(row, any_batch)].push_back(&row);
  Choices choices;
  for (const auto& [question, rows] : questions) {
    if (rows.size() > 1) choices.Add(table, rows);
  }
  return choices;
}

// Where one question was measured with several layouts: how much longer the layout that advise
// ranks first among them took than the best. Tables without two layouts of one batch are compared
// by token, whatever the batch.
void PrintAdvise(const std::vector<Table>& tables) {
  std::printf(
      "\n| table | questions with several layouts | layouts | it says that none fits | its first "
      "is "
      "the best | within 5 %% | mean | worst |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const Table& table : tables) {
    Choices made = ChoicesOf(table, false);
    const bool any_batch = made.asked == 0;
    if (any_batch) made = ChoicesOf(table, true);
    if (made.asked == made.silent) continue;
    const auto answered = static_cast<double>(made.asked - made.silent);
    std::printf("| %s%s | %zu | %zu | %zu | %.0f %% | %.0f %% | %.1f %% | %.0f %% |\n",
                table.name.c_str(), any_batch ? ", by token" : "", made.asked, made.layouts,
                made.silent, 100 * static_cast<double>(made.best) / answered,
                100 * static_cast<double>(made.near) / answered, 100 * made.sum / answered,
                100 * made.worst);
  }
}

// All of these rows ran: the model must say that they fit.
void PrintFits(const std::vector<Table>& tables) {
  std::size_t rows = 0, fit = 0;
  for (const Table& table : tables) {
    for (const Row& row : table.rows) {
      const bool fits = SaidToFit(row);
      ++rows;
      fit += fits ? 1 : 0;
      if (!fits) {
        const auto& calibration = outlook::FindCalibration(row.calibration);
        const double total = outlook::MemoryPerGPU(row.layout, calibration.attention).Total();
        std::fprintf(stderr, "said not to fit: %s, %s: %.1f of %.1f GB\n", table.name.c_str(),
                     row.label.c_str(), total / 1e9, outlook::UsableMemory(row.accelerator) / 1e9);
      }
    }
  }
  std::printf(
      "\nOf %zu published steps, which all ran, memory says that %.1f %% fit; goal 95 %%.\n", rows,
      100 * static_cast<double>(fit) / static_cast<double>(rows));
}

void ListRows(const std::vector<Table>& tables) {
  for (const Table& table : tables) {
    for (const Row& row : table.rows) {
      std::fprintf(stderr, "%+6.1f %% %9.3f s %s %s: %s\n", 100 * ErrorOf(row), row.seconds,
                   row.fitted ? "fitted" : "held  ", table.name.c_str(), row.label.c_str());
    }
  }
}

// The constants in the table of calibrations must be what a fit gives.
void PrintFit(const std::vector<Table>& tables) {
  for (const Fitting& fitting : Fittings()) {
    Rows rows;
    for (const Table& table : tables) {
      for (const Row& row : table.rows) {
        const auto& names = fitting.calibrations;
        const bool ours = std::find(names.begin(), names.end(), row.calibration) != names.end();
        if (ours && row.fitted) rows.push_back(&row);
      }
    }
    std::vector<outlook::Calibration> start;
    for (const std::string& name : fitting.calibrations) {
      start.push_back(outlook::FindCalibration(name));
    }
    const auto found = Fit(fitting, rows, start);
    std::printf("\n%zu rows, mean error %.2f %% by the table, %.2f %% fitted again\n", rows.size(),
                100 * MeanError(rows, start), 100 * MeanError(rows, found));
    for (const outlook::Calibration& one : found) {
      std::printf("  %s:", std::string(one.name).c_str());
      for (const auto* constants : {&fitting.shared, &fitting.own}) {
        for (const Constant& each : *constants) {
          std::printf(" %s %.4g", each.name, one.*each.member);
        }
      }
      std::printf("\n");
    }
  }
}

void Plot(const std::vector<Table>& tables, const std::string& file) {
  std::vector<Panel> panels;
  for (const Table& table : tables) {
    panels.push_back({table.name, {}});
    for (const Row& row : table.rows) {
      panels.back().points.push_back({row.seconds, row.seconds * (1 + ErrorOf(row)), row.fitted});
    }
  }
  std::ofstream(file) << Svg(panels);
}

int Main(int argc, char** argv) {
  std::string folder, plot;
  bool list = false, fit = false;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--plot" && i + 1 < argc)
      plot = argv[++i];
    else if (argument == "--rows")
      list = true;
    else if (argument == "--fit")
      fit = true;
    else
      folder = argument;
  }
  if (folder.empty()) {
    std::fprintf(stderr, "usage: fidelity FOLDER [--plot FILE.svg] [--rows] [--fit]\n");
    return 2;
  }
  const Table experts = MegatronBridgeExperts(folder);
  const std::vector<Table> tables = {VTrain(folder), VTrainNodes(), LlmFoundry(folder),
                                     Sc21(),         Korthikanti(), MegatronBridgeDense(folder),
                                     NeMo(),         MegaScale(),   LlamaThree(),
                                     experts};
  if (list) ListRows(tables);
  PrintSteps(tables);
  PrintOrder(experts);
  PrintAdvise(tables);
  PrintFits(tables);
  if (fit) PrintFit(tables);
  if (!plot.empty()) Plot(tables, plot);
  return 0;
}

}  // namespace
}  // namespace weft::fidelity

int main(int argc, char** argv) { return weft::fidelity::Main(argc, argv); }
