#include "operator/report/outlook.h"

#include <utility>

#include "operator/cluster/running.h"
#include "operator/outlook/refusals.h"
#include "operator/predict/pace.h"
#include "operator/predict/predict.h"
#include "operator/report/ground.h"

namespace weft::report {
namespace {

using cluster::Cluster;
using cluster::WorkloadView;
using fabric::NodeIndex;

class OutlookMaker {
 public:
  OutlookMaker(const Cluster& cluster, const OutlookChoice& choice)
      : cluster_(cluster),
        choice_(choice),
        learned_(predict::LearnedScalars::From(*cluster.inputs)) {
    report_.notes = learned_.Notes();
  }

  void AddPlanned(const plan::PlanEntry& entry) {
    const auto* placed = entry.placed();
    if (placed == nullptr && Wanted(entry.workload)) {
      report_.all_placed = false;
      Leave(entry.workload, "NotPlaced", "cannot be placed now, so its links are not known");
    } else if (placed != nullptr) {
      Add(entry.workload, *entry.fabric, placed->plan.nodes, false);
    }
  }

  void AddHeld(const cluster::Running& running) {
    Add(running.workload, running.fabric, running.nodes, true);
  }

  OutlookReport Take() { return std::move(report_); }

 private:
  bool Wanted(const WorkloadView& workload) const {
    return choice_.space.empty() || workload.key().space == choice_.space;
  }

  void Leave(const WorkloadView& workload, std::string reason, const std::string& why) {
    report_.notes.push_back(
        {cluster::Severity::kInfo, std::move(reason),
         std::string(workload.kind()) + " " + api::Show(workload.key()) + " " + why + "."});
  }

  void Add(const WorkloadView& workload, std::size_t fabric, objective::Nodes nodes, bool held) {
    if (!Wanted(workload)) return;
    if (!workload.model->has_value() || !(*workload.model)->transformer) {
      return Leave(workload, "NoModel", "has no spec.model.transformer to predict from");
    }
    JobOutlook one;
    one.job = api::Show(workload.key());
    one.held = held;
    one.accelerators = std::int64_t{workload.workers} * workload.accelerator->per_worker;
    one.prediction = Predict(workload, cluster_.fabrics[fabric], nodes, one);
    if (!one.prediction) {
      const auto accelerator = predict::AcceleratorOf(*cluster_.fabrics[fabric].fabric,
                                                      workload.accelerator->resource_name, nodes);
      one.prediction = Invalid(accelerator ? *workload.place + ": " + one.prediction.error().message
                                           : WithPlace(cluster_, accelerator.error().message));
    }
    if (one.prediction) AddCosts(workload, *cluster_.fabrics[fabric].fabric, nodes, one);
    report_.jobs.push_back(std::move(one));
  }

  void AddCosts(const WorkloadView& workload, const fabric::Fabric& fabric, objective::Nodes nodes,
                JobOutlook& one) const {
    one.reliability = predict::FailuresOn(fabric, nodes, choice_.prices).reliability;
    if (choice_.prices == nullptr) return;
    one.currency = choice_.prices->currency;
    one.cost_per_hour = predict::CostPerHour(fabric, *workload.accelerator, nodes, *choice_.prices);
    one.facility_watts = one.prediction->watts * choice_.prices->cooling_overhead;
  }

  Result<outlook::Prediction> Predict(const WorkloadView& workload,
                                      const cluster::ClusterFabric& on, objective::Nodes nodes,
                                      JobOutlook& one) const {
    const auto traffic =
        traffic::ComputeTraffic(*workload.model, *workload.parallelism, workload.workers,
                                static_cast<std::uint32_t>(workload.accelerator->per_worker));
    if (!traffic) return Invalid("spec." + traffic.error().message);
    auto predicted = predict::Predict(on, workload, *traffic, nodes, &learned_);
    if (!predicted) return predicted.error();
    one.accelerator = std::move(predicted->accelerator);
    one.learned = predicted->learned;
    one.notes = outlook::LayoutNotes(predict::LayoutOf(workload, *traffic));
    return std::move(predicted->prediction);
  }

  const Cluster& cluster_;
  const OutlookChoice& choice_;
  const predict::LearnedScalars learned_;
  OutlookReport report_;
};

}  // namespace

Result<OutlookReport> Outlook(const Cluster& cluster, const plan::PlanReport& plan,
                              const OutlookChoice& choice) {
  OutlookMaker maker(cluster, choice);
  for (const plan::PlanEntry& entry : plan.entries) maker.AddPlanned(entry);
  const auto running = cluster::RunningWorkloads(cluster);
  if (!running) return running.error();
  for (const cluster::Running& one : *running) maker.AddHeld(one);
  return maker.Take();
}

}  // namespace weft::report
