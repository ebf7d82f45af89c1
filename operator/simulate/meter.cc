#include "operator/simulate/meter.h"

#include <algorithm>

#include "operator/outlook/constants.h"
#include "operator/outlook/outlook.h"
#include "operator/predict/predict.h"
#include "operator/simulate/pace.h"

namespace weft::simulate {

using fabric::NodeIndex;

namespace {

constexpr double kHour = 3600;

double IdlePowerOf(const outlook::Accelerator& accelerator) {
  return (outlook::kIdlePower + outlook::kHostPower) * accelerator.watts;
}

}  // namespace

Meter::Meter(const cluster::ClusterFabric& on, const outlook::Prices* prices)
    : rates_(on.fabric->node_count()), priced_(prices != nullptr) {
  const fabric::Fabric& fabric = *on.fabric;
  for (const NodeIndex node : rates_.Indices()) {
    Rates& rates = rates_[node];
    const api::Accelerator one{AcceleratorResourceOf(fabric, node), 1};
    const outlook::Accelerator accelerator =
        AcceleratorOrAssumed(fabric, one.resource_name, {&node, 1});
    rates.busy_watts = outlook::PowerOf(accelerator, 1);
    rates.idle_watts = IdlePowerOf(accelerator);
    if (prices != nullptr) {
      const auto price = predict::CostPerHour(fabric, one, {&node, 1}, *prices);
      rates.price_per_hour = price.value_or(0);
      priced_ = priced_ && (price || fabric.accelerators(node) == 0);
    }
    const auto gpus = static_cast<double>(std::max<std::int64_t>(
        0, std::int64_t{fabric.accelerators(node)} - on.claims.used_accelerators(node)));
    fleet_idle_watts_ += gpus * rates.idle_watts;
    fleet_price_per_hour_ += gpus * rates.price_per_hour;
  }
}

void Meter::Add(std::span<const NodeIndex> nodes, std::uint32_t per_worker, double seconds) {
  Rates sum;
  for (const NodeIndex node : nodes) {
    sum.busy_watts += rates_[node].busy_watts;
    sum.idle_watts += rates_[node].idle_watts;
    sum.price_per_hour += rates_[node].price_per_hour;
  }
  busy_joules_ += sum.busy_watts * per_worker * seconds;
  not_idle_joules_ += sum.idle_watts * per_worker * seconds;
  job_cost_ += sum.price_per_hour * per_worker * seconds / kHour;
}

Bill Meter::Total(double makespan) const {
  Bill bill;
  bill.job_joules = busy_joules_;
  bill.idle_joules = std::max(0.0, fleet_idle_watts_ * makespan - not_idle_joules_);
  if (priced_) bill.cost = Bill::Cost{job_cost_, fleet_price_per_hour_ * makespan / kHour};
  return bill;
}

}  // namespace weft::simulate
