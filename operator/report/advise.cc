#include "operator/report/advise.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "operator/base/phrases.h"
#include "operator/cluster/choose_fabric.h"
#include "operator/outlook/layouts.h"
#include "operator/outlook/placed_network.h"
#include "operator/outlook/refusals.h"
#include "operator/predict/predict.h"
#include "operator/report/ground.h"
#include "operator/report/lifts.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::WorkloadView;
using outlook::Layout;

constexpr double kSecondsPerDay = 86'400;
constexpr double kHoursPerDay = 24;

// The best of one ground and number of accelerators.
struct Cell {
  const Ground* ground = nullptr;
  std::vector<CandidateLayout> best;  // best first
};

Result<WorkloadView> FindJob(const Cluster& cluster, const std::string& name) {
  auto all = cluster::AllWorkloads(cluster);
  if (!all) return all.error();
  std::vector<WorkloadView> found;
  for (WorkloadView& one : *all) {
    const bool named = name.empty() || name == api::Show(one.key()) || name == one.key().name;
    const bool modelled = one.model->has_value() && (*one.model)->transformer.has_value();
    if (!one.is_job || !named || (name.empty() && !modelled)) continue;
    if (!modelled) return Invalid(*one.place + ": spec.model.transformer: is required");
    found.push_back(std::move(one));
  }
  if (found.size() == 1) return std::move(found.front());
  if (!name.empty() && found.empty()) return Invalid("no TrainingJob is called " + name);
  if (found.empty()) return Invalid("no TrainingJob has a spec.model.transformer");
  std::string names;
  for (const WorkloadView& one : found) names += (names.empty() ? "" : ", ") + api::Show(one.key());
  return Invalid("several TrainingJobs could be meant; name one of " + names);
}

// The numbers of accelerators to try on a ground.
std::vector<std::int64_t> CountsOf(const AdviceRequest& request, const WorkloadView& workload,
                                   const WorkerSize& worker) {
  const std::int64_t each = worker.accelerators;
  if (request.most == 0) return {each * workload.workers};
  std::int64_t most = request.most;
  if (!worker.Divides(most)) most -= most % each;
  std::vector<std::int64_t> counts;
  const auto add = [&](std::int64_t count) {
    if (count >= request.least) counts.push_back(count);
  };
  for (std::int64_t part = 1; worker.bare && part < std::min(each, most); part *= 2) add(part);
  for (std::int64_t count = each; count < most; count *= 2) add(count);
  if (most > 0) add(most);
  return counts;
}

// Accelerators that the job may have there.
std::int64_t RoomOf(const Ground& ground) {
  return static_cast<std::int64_t>(ground.orders.front().size()) * ground.worker.accelerators;
}

class Adviser {
 public:
  Adviser(const WorkloadView& workload, const AdviceRequest& request)
      : workload_(workload), request_(request) {}

  // Every ground with every number of accelerators that it has.
  std::vector<Cell> Cells(const std::vector<Ground>& grounds) {
    std::vector<Cell> cells;
    for (const Ground& ground : grounds) {
      for (const std::int64_t count : CountsOf(request_, workload_, ground.worker)) {
        if (count > RoomOf(ground)) continue;
        Cell cell{&ground, search_.Best(workload_, ground, count, request_.rows)};
        if (!cell.best.empty()) cells.push_back(std::move(cell));
      }
    }
    return cells;
  }

  // The best layouts of one cell, or the best of each.
  std::vector<AdvisedLayout> Rows(const std::vector<Cell>& cells) {
    std::vector<AdvisedLayout> rows;
    for (const Cell& cell : cells) {
      const std::size_t most = rows.size() + (cells.size() > 1 ? 1 : cell.best.size());
      for (const CandidateLayout& one : cell.best) {
        auto row = RowOf(*cell.ground, one);
        if (!row) continue;
        Remember(*row);
        if (rows.size() < most && Wanted(*row)) rows.push_back(*std::move(row));
      }
    }
    if (cells.size() == 1) return rows;
    const bool cheapest = request_.deadline_days.has_value();
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      return cheapest ? Effort(a) < Effort(b)
                      : a.prediction.tokens_per_second > b.prediction.tokens_per_second;
    });
    return rows;
  }

  // Why no layout is left, if none is.
  std::string WhyNone(const std::vector<Ground>& grounds) const {
    if (soonest_ || cheapest_) return WhyUnwanted();
    if (search_.tried() > 0) return "";
    for (const Ground& ground : grounds) {
      if (WhyTooFew(ground).empty()) return WhyNoShape(FirstCount(ground));
    }
    return WhyTooFew(
        *std::max_element(grounds.begin(), grounds.end(),
                          [](const Ground& a, const Ground& b) { return RoomOf(a) < RoomOf(b); }));
  }

  // Of several grounds, those without a layout.
  std::vector<cluster::Note> LeftOut(const std::vector<Ground>& grounds,
                                     const std::vector<Cell>& cells) const {
    std::vector<cluster::Note> notes;
    if (grounds.size() < 2 || cells.empty()) return notes;
    for (const Ground& ground : grounds) {
      const bool has = std::any_of(cells.begin(), cells.end(),
                                   [&](const Cell& cell) { return cell.ground == &ground; });
      if (has) continue;
      const traffic::Precision precision = (*workload_.model)->transformer->precision;
      std::string why = WhyTooFew(ground);
      if (outlook::PeakRate(ground.accelerator, precision) <= 0) {
        why = outlook::NoUnitText(ground.accelerator, precision) + ".";
      }
      if (why.empty()) why = "No layout fits in memory.";
      notes.push_back({cluster::Severity::kInfo, "LeftOut",
                       "Fabric " + ground.on->name() + ", " + outlook::NameOf(ground.accelerator) +
                           ": " + why});
    }
    return notes;
  }

  // The job as it is written.
  std::optional<AdvisedLayout> AsWritten(const Ground& ground) const {
    if (workload_.workers == 0) return std::nullopt;
    Layout layout;
    layout.model = *(*workload_.model)->transformer;
    layout.parallelism = *workload_.parallelism;
    layout.ranks = workload_.workers * ground.worker.accelerators;
    const auto on = OnNodes(workload_, ground, layout);
    return on ? RowOf(ground, *on) : std::nullopt;
  }

  const LayoutSearch& search() const { return search_; }

 private:
  std::optional<AdvisedLayout> RowOf(const Ground& ground, const CandidateLayout& one) const {
    auto prediction = outlook::Predict(one.layout, ground.accelerator, one.network);
    if (!prediction) return std::nullopt;
    AdvisedLayout row;
    row.fabric = ground.on->name();
    row.accelerator = outlook::NameOf(ground.accelerator);
    row.layout = one.layout;
    row.prediction = *std::move(prediction);
    const predict::Failures failures =
        predict::FailuresOn(*ground.on->fabric, one.nodes, request_.prices);
    row.nodes = failures.nodes;
    row.spot_nodes = failures.spot_nodes;
    row.reliability = failures.reliability;
    row.per_worker = ground.worker.Of(one.layout.ranks);
    if (request_.prices != nullptr) {
      api::Accelerator wanted = *workload_.accelerator;
      wanted.per_worker = row.per_worker;
      row.cost_per_hour =
          predict::CostPerHour(*ground.on->fabric, wanted, one.nodes, *request_.prices);
    }
    if (request_.tokens) {
      row.days = *request_.tokens / row.prediction.tokens_per_second / kSecondsPerDay /
                 row.reliability.effective_share;
      if (row.cost_per_hour) row.cost = *row.days * kHoursPerDay * *row.cost_per_hour;
    }
    return row;
  }

  void Remember(const AdvisedLayout& row) {
    if (row.days && (!soonest_ || *row.days < *soonest_->days)) soonest_ = row;
    if (row.cost && (!cheapest_ || *row.cost < *cheapest_->cost)) cheapest_ = row;
  }

  // "" if some number of accelerators can be tried on the ground.
  std::string WhyTooFew(const Ground& ground) const {
    const WorkerSize& worker = ground.worker;
    const std::string each = std::to_string(worker.accelerators);
    const std::int64_t first = FirstCount(ground);
    if (first == 0) {
      return (worker.bare ? "A node has " : "A worker of the job has ") +
             CountText(worker.accelerators, "accelerator") + ", so that their number must be " +
             (worker.bare ? "below " + each + " or " : "") + "a multiple of " + each + ".";
    }
    if (first <= RoomOf(ground)) return "";
    return "The nodes that the job may use have " + CountText(RoomOf(ground), "accelerator") +
           ", and " + std::to_string(first) + " are asked for.";
  }

  // The least number to try; 0: none.
  std::int64_t FirstCount(const Ground& ground) const {
    const std::vector<std::int64_t> counts = CountsOf(request_, workload_, ground.worker);
    return counts.empty() ? 0 : counts.front();
  }

  std::string WhyUnwanted() const {
    std::string text = "Of the layouts that fit, ";
    if (soonest_) {
      text += "the fastest takes " + Amount(*soonest_->days) + " days on " + On(*soonest_);
    }
    if (cheapest_) {
      text += ", and the cheapest costs " + Amount(*cheapest_->cost) + " " +
              request_.prices->currency + " on " + On(*cheapest_);
    } else if (request_.budget) {
      text += ", and none has a price for all its nodes";
    }
    return text + ".";
  }

  static std::string On(const AdvisedLayout& row) {
    return std::to_string(row.layout.ranks) + " x " + row.accelerator;
  }

  // "0.42", "1234".
  static std::string Amount(double value) {
    constexpr double kWhole = 100, kHundred = 100;
    if (value >= kWhole) return std::to_string(std::llround(value));
    std::string text = std::to_string(std::ceil(value * kHundred) / kHundred);
    return text.substr(0, text.find('.') + 3);
  }

  std::string WhyNoShape(std::int64_t count) const {
    const traffic::Transformer& model = *(*workload_.model)->transformer;
    return "Of " + CountText(count, "accelerator") +
           ", tensor x context x pipeline (powers of two, or a divisor of the " +
           CountText(model.layers, "layer") + " as pipeline) leave no number that divides " +
           "globalBatchSize " + std::to_string(model.global_batch_size) + ".";
  }

  bool Wanted(const AdvisedLayout& row) const {
    if (request_.deadline_days && row.days && *row.days > *request_.deadline_days) return false;
    return !request_.budget || (row.cost && *row.cost <= *request_.budget);
  }

  // What a layout costs: money, else the time of all its accelerators.
  static double Effort(const AdvisedLayout& row) {
    return row.cost.value_or(row.days.value_or(0) * static_cast<double>(row.layout.ranks));
  }

  const WorkloadView& workload_;
  const AdviceRequest& request_;
  LayoutSearch search_;
  std::optional<AdvisedLayout> soonest_, cheapest_;  // of all that fit
};

void AddNotes(const std::vector<cluster::Note>& notes, Advice& advice) {
  advice.notes.insert(advice.notes.end(), notes.begin(), notes.end());
}

// Of each Fabric whose scale-up network the job would use with a claim.
std::vector<cluster::Note> UnclaimedDomains(const WorkloadView& workload,
                                            const std::vector<Ground>& grounds) {
  std::vector<cluster::Note> notes;
  const std::string* last = nullptr;
  for (const Ground& ground : grounds) {
    const fabric::Fabric& fabric = *ground.on->fabric;
    const bool claims = workload.pod.claims_compute_domain || workload.topology->compute_domain;
    if (!fabric.ScaleUpNeedsClaim() || claims) continue;
    if (last != nullptr && *last == ground.on->name()) continue;
    last = &ground.on->name();
    notes.push_back({cluster::Severity::kWarning, "NoComputeDomain",
                     "Fabric " + *last +
                         ": the job claims no ComputeDomain, so traffic between "
                         "nodes does not use " +
                         fabric.spec().scale_up->name +
                         "; spec.topology.computeDomain: Auto claims one."});
  }
  return notes;
}

// What is wrong with the model itself, whatever the layout.
void AddModelNotes(const WorkloadView& workload, Advice& advice) {
  Layout alone;
  alone.model = *(*workload.model)->transformer;
  for (const std::string& note : outlook::LayoutNotes(alone)) {
    advice.notes.push_back({cluster::Severity::kWarning, "RefusedLayout", note + "."});
  }
}

// Nodes that no job gets.
std::vector<cluster::Note> UnusedNodes(const Cluster& cluster) {
  std::vector<cluster::Note> notes;
  for (const cluster::Note& note : cluster.notes) {
    if (note.reason != "Overlapping" && note.reason != "Incomplete") continue;
    notes.push_back({note.severity, note.reason, note.text + "."});
  }
  return notes;
}

std::string NoNodeText(const Cluster& cluster, const WorkloadView& workload) {
  const std::uint32_t each = workload.accelerator->per_worker;
  std::string text = "no usable node has " + (each > 0 ? std::to_string(each) + " " : "") +
                     workload.accelerator->resource_name + " and a product that the job may get";
  for (const cluster::Note& note : UnusedNodes(cluster)) text += ". " + note.text;
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Why none of the grounds can be predicted on, if so.
Status CheckGrounds(const Cluster& cluster, const WorkloadView& workload, const Grounds& grounds) {
  if (grounds.grounds.empty() && grounds.notes.empty()) {
    return Invalid(*workload.place + ": " + NoNodeText(cluster, workload));
  }
  if (grounds.grounds.empty()) {
    std::string text = grounds.notes.front().text;
    if (text.ends_with('.')) text.pop_back();
    return Invalid(text);
  }
  const traffic::Precision precision = (*workload.model)->transformer->precision;
  for (const Ground& one : grounds.grounds) {
    if (outlook::PeakRate(one.accelerator, precision) > 0) return {};
  }
  return Invalid(*workload.place + ": spec.model.transformer.precision: " +
                 outlook::NoUnitText(grounds.grounds.front().accelerator, precision));
}

}  // namespace

Result<Advice> Advise(const Cluster& cluster, const AdviceRequest& request) {
  const auto workload = FindJob(cluster, request.job);
  if (!workload) return workload.error();
  if (workload->workers == 0 && request.most == 0) {
    return Invalid(*workload->place +
                   ": spec.workers: is required without --gpus: give the job's workers, or with "
                   "--gpus the number of accelerators to try, such as 8..1024");
  }
  if (!workload->fabric_name->empty()) {
    if (const auto known = cluster::ChooseFabric(cluster, *workload); !known) return known.error();
  }
  const Grounds grounds = GroundsOf(cluster, *workload);
  if (const Status usable = CheckGrounds(cluster, *workload, grounds); !usable) {
    return usable.error();
  }
  Adviser adviser(*workload, request);
  const std::vector<Cell> cells = adviser.Cells(grounds.grounds);
  Advice advice;
  advice.job = api::Show(workload->key());
  advice.index = workload->index;
  advice.no_template = workload->workers == 0 && workload->pod.requests.empty();
  if (request.prices != nullptr) advice.currency = request.prices->currency;
  advice.layouts = adviser.Rows(cells);
  advice.tried = adviser.search().tried();
  advice.fitting = adviser.search().fitting();
  AddNotes(UnusedNodes(cluster), advice);
  AddNotes(grounds.notes, advice);
  AddNotes(UnclaimedDomains(*workload, grounds.grounds), advice);
  AddNotes(adviser.LeftOut(grounds.grounds, cells), advice);
  AddModelNotes(*workload, advice);
  if (request.prices != nullptr) {
    advice.rates = request.prices->Rates();
    advice.rates_of_prices = request.prices->interruptions_per_1000_node_days.has_value();
  }
  if (advice.layouts.empty()) {
    advice.why_none = adviser.WhyNone(grounds.grounds);
    return advice;
  }
  const AdvisedLayout& first = advice.layouts.front();
  for (const Cell& cell : cells) {
    const bool same = cell.ground->on->name() == first.fabric &&
                      outlook::NameOf(cell.ground->accelerator) == first.accelerator &&
                      cell.best.front().layout.ranks == first.layout.ranks;
    if (!same) continue;
    advice.lifts = LiftsOf(*workload, *cell.ground, cell.best.front());
    advice.as_written = adviser.AsWritten(*cell.ground);
    break;
  }
  return advice;
}

}  // namespace weft::report
