#include "operator/life/worker_limit.h"

#include "operator/base/check.h"
#include "operator/life/host_name.h"

namespace weft::life {
namespace {

constexpr std::size_t kLongestString = std::size_t{128} << 10;  // including the NUL at the end

std::size_t Digits(std::uint32_t number) { return std::to_string(number).size(); }

}  // namespace

// TF_CONFIG={"cluster":{"worker":["<job>-<i>.<job>:<port>",...]},"task":{"type":"worker","index":
// <i>},"environment":"cloud"}
std::size_t TensorFlowConfigBytes(const api::TrainingJob& job, std::uint32_t workers) {
  const std::string frame =
      R"(TF_CONFIG={"cluster":{"worker":[]},"task":{"type":"worker","index":},"environment":"cloud"})";
  WEFT_CHECK(workers > 0);
  const std::size_t last = Digits(workers - 1), name = job.meta.key.name.size();
  const std::size_t port = std::to_string(job.framework.port).size();
  const std::size_t address = name + 1 + last + 1 + name + 1 + port + 2;  // with quotes
  const std::size_t nul = 1;
  return frame.size() + last + workers * (address + 1) - 1 + nul;
}

std::optional<std::string> TooManyWorkers(const api::TrainingJob& job) {
  if (job.framework.type != api::FrameworkType::kTensorFlow) return std::nullopt;
  if (job.replicas == 0) return std::nullopt;  // a bare model
  if (TensorFlowConfigBytes(job, job.replicas) <= kLongestString) return std::nullopt;
  std::uint32_t fits = job.replicas;
  while (fits > 1 && TensorFlowConfigBytes(job, fits) > kLongestString) --fits;
  return std::to_string(job.replicas) +
         " workers are too many for TensorFlow: the environment variable TF_CONFIG holds the "
         "address of every worker in at most 128 KiB, enough for " +
         std::to_string(fits) + " with this job name";
}

}  // namespace weft::life
