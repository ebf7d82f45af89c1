#include "operator/simulate/published_shares.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "operator/base/random.h"
#include "operator/simulate/chance.h"
#include "operator/simulate/trace_columns.h"
#include "operator/simulate/virtual_time.h"

namespace weft::simulate {
namespace {

constexpr double kMeanSeconds = 1414, kMedianSeconds = 122;
constexpr double kSecondsBetweenJobs = 60;
constexpr double kWhole = 100;  // percent

struct Size {
  std::uint32_t gpus = 0;
  double jobs = 0, gpu_time = 0;  // cumulated percent
};

class Shares {
 public:
  explicit Shares(const TraceText& input)
      : part_(input.part), table_(input.source, input.text, ',') {}

  Result<std::vector<Size>> Read() {
    if (Status header = table_.ReadHeader(); !header) return header.error();
    const auto cluster = table_.Need({"cluster"}), metric = table_.Need({"metric"});
    const auto gpus = table_.Need({"gpus_le"}), share = table_.Need({"cdf_pct"});
    for (const auto* column : {&cluster, &metric, &gpus, &share}) {
      if (!*column) return column->error();
    }
    while (true) {
      const auto more = table_.Next();
      if (!more) return more.error();
      if (!*more) break;
      if (part_.empty()) part_ = table_.cell(*cluster);
      if (table_.cell(*cluster) != part_) continue;
      if (Status added = Add(*metric, *gpus, *share); !added) return added.error();
    }
    if (sizes_.empty()) return Invalid("no line is of the cluster " + import::Quoted(part_));
    return std::move(sizes_);
  }

 private:
  // A line for sizes below the next whole number ("7.999") adds nothing and is left out.
  Status Add(std::size_t metric, std::size_t gpus, std::size_t share) {
    const auto size = table_.Number(gpus);
    if (!size) return size.error();
    const auto percent = table_.Number(share);
    if (!percent) return percent.error();
    if (*size != std::floor(*size) || *size < 1 || *size > (1 << 24)) return {};
    const auto count = static_cast<std::uint32_t>(*size);
    auto found = std::find_if(sizes_.begin(), sizes_.end(),
                              [&](const Size& one) { return one.gpus == count; });
    if (found == sizes_.end()) found = sizes_.insert(found, {count, 0, 0});
    double& value = table_.cell(metric) == "jobs" ? found->jobs : found->gpu_time;
    value = *percent;
    const bool falls = found != sizes_.begin() && std::prev(found)->jobs > found->jobs &&
                       table_.cell(metric) == "jobs";
    if (*percent < 0 || *percent > kWhole || falls) {
      return table_.At(share, "cumulated percentages rise from 0 to 100");
    }
    return {};
  }

  std::string part_;
  TraceColumns table_;
  std::vector<Size> sizes_;
};

// Mean seconds of each size, so that the mean of all jobs is kMeanSeconds.
std::vector<double> MeansOf(const std::vector<Size>& sizes) {
  std::vector<double> means;
  double mean = 0;
  Size before;
  for (const Size& size : sizes) {
    const double jobs = size.jobs - before.jobs;
    const double gpu_time = std::max(0.0, size.gpu_time - before.gpu_time);
    means.push_back(jobs > 0 ? gpu_time / (jobs * size.gpus) : 0);
    mean += jobs / kWhole * means.back();
    before = size;
  }
  for (double& one : means) one *= mean > 0 ? kMeanSeconds / mean : 0;
  return means;
}

}  // namespace

Result<Trace> DrawFromShares(const TraceText& input) {
  const auto sizes = Shares(input).Read();
  if (!sizes) return Invalid(sizes.error().message);
  const std::vector<double> means = MeansOf(*sizes);
  const double sigma = std::sqrt(2 * std::log(kMeanSeconds / kMedianSeconds));
  SplitMix64 random(input.seed);
  Trace trace;
  double now = 0;
  for (std::size_t j = 0; j < input.jobs; ++j) {
    const double draw = Uniform(random) * kWhole;
    std::size_t s = 0;
    while (s + 1 < sizes->size() && (*sizes)[s].jobs <= draw) ++s;
    const double run = means[s] * std::exp(sigma * Normal(random) - sigma * sigma / 2);
    TraceJob job;
    job.name = "job-" + std::to_string(j + 1);
    job.arrival = ToMicros(now);
    job.run = ToMicros(run);
    job.gpus = (*sizes)[s].gpus;
    trace.jobs.push_back(std::move(job));
    now += Exponential(random) * kSecondsBetweenJobs;
  }
  return trace;
}

}  // namespace weft::simulate
