#include "operator/designs/earlier_jobs.h"

#include <algorithm>
#include <array>
#include <utility>

namespace weft::designs {
namespace {

struct Size {
  int gpus;
  std::uint64_t share_percent;  // of the jobs
};
constexpr auto kSizes =
    std::to_array<Size>({{1, 50}, {2, 12}, {4, 10}, {8, 14}, {16, 6}, {32, 4}, {64, 3}, {128, 1}});

struct Pod {
  std::size_t node;
  int gpus;
};
using Job = std::vector<Pod>;

int DrawSize(SplitMix64& random) {
  std::uint64_t at = random.Below(100);
  for (const Size& size : kSizes) {
    if (at < size.share_percent) return size.gpus;
    at -= size.share_percent;
  }
  return kSizes.front().gpus;
}

// Fills the whole fleet. Jobs smaller than a node share the open node while they fit; if the next
// one does not fit, one more small job gets the rest of the node.
std::vector<Job> FillFleet(const Fleet& fleet, SplitMix64& random) {
  std::vector<Job> jobs;
  std::size_t next = 0;  // first untouched node
  std::size_t open = 0;
  int open_free = 0;
  const auto close = [&] {
    if (open_free > 0) jobs.push_back({{open, open_free}});
    open_free = 0;
  };
  while (next < fleet.nodes.size()) {
    const int size = DrawSize(random);
    if (size >= fleet.gpus_per_node) {
      const auto wanted = static_cast<std::size_t>(size / fleet.gpus_per_node);
      const std::size_t end = std::min(fleet.nodes.size(), next + wanted);
      jobs.emplace_back();
      for (; next < end; ++next) jobs.back().push_back({next, fleet.gpus_per_node});
      continue;
    }
    if (size > open_free) {
      close();
      open = next++;
      open_free = fleet.gpus_per_node;
    }
    jobs.push_back({{open, size}});
    open_free -= size;
  }
  close();
  return jobs;
}

int GpusOf(const Job& job) {
  int gpus = 0;
  for (const Pod& pod : job) gpus += pod.gpus;
  return gpus;
}

// Ends jobs in random order while `target` accelerators remain in use, then single pods, until the
// excess is below one node.
void EndJobs(std::vector<Job>& jobs, std::int64_t used, std::int64_t target, SplitMix64& random) {
  for (std::size_t i = jobs.size(); i > 1; --i) std::swap(jobs[i - 1], jobs[random.Below(i)]);
  for (Job& job : jobs) {
    const int gpus = GpusOf(job);
    if (used - gpus < target) continue;
    used -= gpus;
    job.clear();
  }
  for (Job& job : jobs) {
    while (!job.empty() && used - job.back().gpus >= target) {
      used -= job.back().gpus;
      job.pop_back();
    }
  }
}

std::string Padded(std::size_t number, std::size_t width) {
  std::string digits = std::to_string(number);
  if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
  return digits;
}

}  // namespace

std::vector<import::BusyPod> EarlierJobs(const Fleet& fleet, int percent, const std::string& prefix,
                                         SplitMix64& random) {
  std::vector<import::BusyPod> pods;
  if (percent <= 0 || fleet.gpus_per_node <= 0) return pods;
  const std::int64_t all = static_cast<std::int64_t>(fleet.nodes.size()) * fleet.gpus_per_node;
  std::vector<Job> jobs = FillFleet(fleet, random);
  EndJobs(jobs, all, (all * percent + 50) / 100, random);
  const std::size_t width = std::to_string(jobs.size()).size();
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::size_t pod_width = std::to_string(jobs[j].size()).size();
    for (std::size_t p = 0; p < jobs[j].size(); ++p) {
      const Pod& pod = jobs[j][p];
      pods.push_back({prefix + "-" + Padded(j, width) + "-" + Padded(p, pod_width),
                      fleet.nodes[pod.node], import::ShareOfNode(fleet.resource, pod.gpus)});
    }
  }
  return pods;
}

}  // namespace weft::designs
