#include "operator/report/outlook.h"

#include <utility>

#include "operator/decide/pace.h"
#include "operator/decide/predict.h"
#include "operator/decide/running.h"
#include "operator/outlook/refusals.h"
#include "operator/report/ground.h"

namespace weft::report {
namespace {

using decide::Cluster;
using decide::Workload;
using fabric::NodeIndex;

class OutlookMaker {
 public:
  OutlookMaker(const Cluster& cluster, const OutlookChoice& choice)
      : cluster_(cluster),
        choice_(choice),
        learned_(decide::LearnedScalars::From(*cluster.inputs)) {
    report_.notes = learned_.Notes();
  }

  void AddPlanned(const decide::PlanEntry& entry) {
    const auto* placed = entry.placed();
    if (placed == nullptr && Wanted(entry.workload)) {
      report_.all_placed = false;
      Leave(entry.workload, "NotPlaced", "cannot be placed now, so its links are not known");
    } else if (placed != nullptr) {
      Add(entry.workload, *entry.fabric, placed->plan.nodes, false);
    }
  }

  void AddHeld(const decide::Running& running) {
    Add(running.workload, running.fabric, running.nodes, true);
  }

  OutlookReport Take() { return std::move(report_); }

 private:
  bool Wanted(const Workload& workload) const {
    return choice_.space.empty() || workload.key().space == choice_.space;
  }

  void Leave(const Workload& workload, std::string reason, const std::string& why) {
    report_.notes.push_back(
        {decide::Severity::kInfo, std::move(reason),
         std::string(workload.kind()) + " " + api::Show(workload.key()) + " " + why + "."});
  }

  void Add(const Workload& workload, std::size_t fabric, const std::vector<NodeIndex>& nodes,
           bool held) {
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
      const auto accelerator = decide::AcceleratorOf(*cluster_.fabrics[fabric].fabric, nodes);
      one.prediction = Invalid(accelerator ? *workload.place + ": " + one.prediction.error().message
                                           : WithPlace(cluster_, accelerator.error().message));
    }
    if (one.prediction) AddCosts(workload, *cluster_.fabrics[fabric].fabric, nodes, one);
    report_.jobs.push_back(std::move(one));
  }

  void AddCosts(const Workload& workload, const fabric::Fabric& fabric,
                const std::vector<NodeIndex>& nodes, JobOutlook& one) const {
    one.reliability = decide::FailuresOn(fabric, nodes, choice_.prices).reliability;
    if (choice_.prices == nullptr) return;
    one.currency = choice_.prices->currency;
    one.cost_per_hour =
        decide::CostPerHour(fabric, workload.accelerator->per_worker, nodes, *choice_.prices);
    one.facility_watts = one.prediction->watts * choice_.prices->cooling_overhead;
  }

  Result<outlook::Prediction> Predict(const Workload& workload, const decide::ClusterFabric& on,
                                      const std::vector<NodeIndex>& nodes, JobOutlook& one) const {
    const auto traffic =
        traffic::ComputeTraffic(*workload.model, *workload.parallelism, workload.workers,
                                static_cast<std::uint32_t>(workload.accelerator->per_worker));
    if (!traffic) return Invalid("spec." + traffic.error().message);
    auto predicted = decide::Predict(on, workload, *traffic, nodes, &learned_);
    if (!predicted) return predicted.error();
    one.accelerator = std::move(predicted->accelerator);
    one.learned = predicted->learned;
    one.notes = outlook::LayoutNotes(decide::LayoutOf(workload, *traffic));
    return std::move(predicted->prediction);
  }

  const Cluster& cluster_;
  const OutlookChoice& choice_;
  const decide::LearnedScalars learned_;
  OutlookReport report_;
};

}  // namespace

Result<OutlookReport> Outlook(const Cluster& cluster, const decide::PlanReport& plan,
                              const OutlookChoice& choice) {
  OutlookMaker maker(cluster, choice);
  for (const decide::PlanEntry& entry : plan.entries) maker.AddPlanned(entry);
  const auto running = decide::RunningWorkloads(cluster);
  if (!running) return running.error();
  for (const decide::Running& one : *running) maker.AddHeld(one);
  return maker.Take();
}

}  // namespace weft::report
