#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "operator/api/training_job.h"
#include "operator/cli/commands.h"
#include "operator/cli/verify_step.h"
#include "operator/kube/environment.h"
#include "operator/life/verify.h"

namespace weft::cli {
namespace {

std::uint32_t Number(const char* name) {
  const std::string text = kube::Environment(name);
  std::uint32_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string HostName() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

// Uses one write, so that lines of several ranks do not mix. In a pod without such a file (a test,
// another runtime), only standard output gets the line.
void Report(const std::string& line, const std::string& file) {
  std::cout << line << std::flush;
  std::ofstream out(file, std::ios::app);
  if (out) out << line << std::flush;
}

}  // namespace

int RunVerify(const VerifyArguments& arguments) {
  if (arguments.step) return RunVerifyStep(arguments);
  const std::string worker = kube::Environment("WEFT_WORKER_INDEX");
  if (worker.empty()) {
    std::cerr
        << "weft verify: WEFT_WORKER_INDEX is not set: this is not a worker of a TrainingJob\n";
    return kBadInput;
  }
  if (!arguments.rank) {
    std::string line = "weft host " + HostName();
    const std::string node = kube::Environment("WEFT_BOUND_NODE");
    if (!node.empty()) line += " node " + node;
    Report(line + " worker " + worker + "\n", arguments.file);
    return kDone;
  }
  Report("weft rank " + std::to_string(*arguments.rank) + " of " +
             std::to_string(*arguments.world) + "\n",
         arguments.file);
  api::TrainingJob job;
  job.replicas = Number("WEFT_WORKERS");
  job.accelerator.per_worker = Number("WEFT_GPUS_PER_WORKER");
  if (life::IsRankOf(job, WorkerIndex(Number("WEFT_WORKER_INDEX")), *arguments.rank,
                     *arguments.world)) {
    return kDone;
  }
  std::cerr << "weft verify: worker " << worker << " on " << kube::Environment("WEFT_NODE")
            << " runs rank " << *arguments.rank << " of " << *arguments.world
            << ", but its placement has " << kube::Environment("WEFT_GPUS_PER_WORKER")
            << " ranks of " << kube::Environment("WEFT_WORLD_SIZE") << ", from rank "
            << kube::Environment("WEFT_FIRST_RANK") << " on\n";
  return kFailed;
}

}  // namespace weft::cli
