#include "operator/life/verify.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "operator/base/check.h"
#include "operator/framework/host_name.h"
#include "operator/life/attempt_labels.h"

namespace weft::life {
namespace {

template <typename Number>
std::optional<Number> Parse(const std::string& text) {
  Number value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

void ReadLine(const std::string& line, PodReport& report) {
  std::istringstream words(line);
  std::string word, value;
  words >> word;
  if (word != "weft") return;
  std::optional<std::int64_t> rank;
  while (words >> word >> value) {
    if (word == "host") report.host = value;
    if (word == "node") report.node = value;
    if (word == "worker") {
      const auto worker = Parse<std::uint32_t>(value);
      report.worker = worker ? std::optional(WorkerIndex(*worker)) : std::nullopt;
    }
    if (word == "rank") rank = Parse<std::int64_t>(value);
    const auto world = word == "of" ? Parse<std::int64_t>(value) : std::nullopt;
    if (rank && world) report.ranks.emplace_back(*rank, *world);
  }
}

class Comparison {
 public:
  Comparison(const api::TrainingJob& job, const std::vector<std::string>& nodes)
      : job_(job), nodes_(nodes), host_network_(framework::OnHostNetwork(job)) {}

  void Compare(WorkerIndex worker, const api::Pod& pod) {
    WEFT_CHECK(worker.Raw() < nodes_.size());
    const std::string who = "worker " + std::to_string(worker.Raw());
    const std::string& placed = nodes_[worker.Raw()];
    const PodReport report = ReadReport(pod.report);
    if (!pod.node_name.empty() && pod.node_name != placed) {
      Mismatch("NodeMismatch", who + " is bound to " + pod.node_name + ", not to " + placed);
    }
    if (!report.node.empty() && report.node != placed) {
      Mismatch("NodeMismatch", who + " reports node " + report.node + ", not " + placed);
    }
    if (report.worker.value_or(worker) != worker) {
      Mismatch("HostMismatch",
               who + " reports that it is worker " + std::to_string(report.worker->Raw()));
    }
    const std::string host = framework::HostName(job_, worker);
    if (!host_network_ && !report.host.empty() && report.host != host) {
      Mismatch("HostMismatch", who + " reports host " + report.host + ", not " + host);
    }
    hosts_ += report.worker ? 1 : 0;
    for (const auto& [rank, world] : report.ranks) CompareRank(worker, rank, world);
  }

  api::Condition Verdict(bool verify_image) const {
    if (mismatch_) return *mismatch_;
    const std::string workers = std::to_string(nodes_.size());
    if (world_ && ranks_.size() == static_cast<std::size_t>(*world_)) {
      return {kVerified, "True", "RanksMatch",
              "all " + std::to_string(*world_) + " ranks run where they were placed", ""};
    }
    if (hosts_ == nodes_.size()) {
      return {kVerified, "True", "HostsMatch",
              "all " + workers + " workers run where they were placed", ""};
    }
    if (verify_image) {
      return {kVerified, "Unknown", "Waiting", "not every worker has reported", ""};
    }
    return {kVerified, "Unknown", "NoVerifyImage",
            "the operator has no --verify-image: only ranks that report are checked", ""};
  }

 private:
  void Mismatch(const char* reason, std::string message) {
    if (!mismatch_) mismatch_ = api::Condition{kVerified, "False", reason, std::move(message), ""};
  }

  void CompareRank(WorkerIndex worker, std::int64_t rank, std::int64_t world) {
    const std::string said = "worker " + std::to_string(worker.Raw()) + " on " +
                             nodes_[worker.Raw()] + " reports rank " + std::to_string(rank) +
                             " of " + std::to_string(world);
    if (!IsRankOf(job_, worker, rank, world)) {
      const std::int64_t each = job_.accelerator.per_worker;
      const std::int64_t first = worker.Raw() * each;
      return Mismatch("RankMismatch", said + ", but ranks " + std::to_string(first) + " to " +
                                          std::to_string(first + each - 1) + " of " +
                                          std::to_string(each * job_.replicas) +
                                          " were placed there");
    }
    if (world_.value_or(world) != world) {
      return Mismatch("RankMismatch",
                      said + ", but other ranks report a world of " + std::to_string(*world_));
    }
    world_ = world;
    ranks_.insert(rank);
  }

  const api::TrainingJob& job_;
  const std::vector<std::string>& nodes_;
  const bool host_network_;
  std::optional<api::Condition> mismatch_;
  std::size_t hosts_ = 0;
  std::optional<std::int64_t> world_;
  std::set<std::int64_t> ranks_;
};

}  // namespace

PodReport ReadReport(const std::string& text) {
  PodReport report;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) ReadLine(line, report);
  return report;
}

bool IsRankOf(const api::TrainingJob& job, WorkerIndex worker, std::int64_t rank,
              std::int64_t world) {
  const std::int64_t each = job.accelerator.per_worker, workers = job.replicas;
  if (world == workers * each) return rank >= 0 && rank / each == worker.Raw();
  return world == workers && rank == worker.Raw();
}

api::Condition VerifyPlacement(const api::TrainingJob& job, const std::vector<std::string>& nodes,
                               const std::vector<const api::Pod*>& pods, bool verify_image) {
  ByWorker<const api::Pod*> of_worker(nodes.size(), nullptr);
  for (const api::Pod* pod : pods) {
    const auto worker = WorkerLabel(pod->meta);
    if (worker && *worker < of_worker.EndIndex()) of_worker[*worker] = pod;
  }
  Comparison comparison(job, nodes);
  for (const WorkerIndex w : of_worker.Indices()) {
    if (of_worker[w] != nullptr) comparison.Compare(w, *of_worker[w]);
  }
  return comparison.Verdict(verify_image);
}

}  // namespace weft::life
