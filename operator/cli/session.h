#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/api/decode.h"
#include "operator/base/result.h"
#include "operator/cli/commands.h"
#include "operator/cluster/note.h"
#include "operator/life/waiting.h"
#include "operator/plan/plan.h"
#include "operator/render/text_format.h"

namespace weft::cli {

// Functions that the commands share: read, build, decide, report. Objects of a cluster that cannot
// be read are named on standard error and left out.
Result<cluster::Cluster> ReadCluster(const InputArguments& input,
                                     api::Reading of_files = api::Reading::kStrict);

// The cluster, and what waits in queues of Kueue. The Placements that these Workloads ask for are
// among its inputs.
struct QueuedCluster {
  cluster::Cluster cluster;
  std::vector<life::WaitingWorkload> waiting;
};
Result<QueuedCluster> ReadQueues(const InputArguments& input);

// Whether the object is from the cluster and not from a file.
bool IsLive(const api::Place& place);

// The order named "file" or "operator". "": the operator's order if the input is a cluster, else
// the file's.
cluster::Order OrderOf(const InputArguments& input, const std::string& name);

struct PlanChoice {
  cluster::Order order = cluster::Order::kFile;
  bool timed = false;
  std::string effort = "normal";                                     // quick, normal, thorough
  std::optional<std::int64_t> reserve_after_seconds = std::nullopt;  // as in PlanOptions
};
// An invalid workload of the cluster is refused with reason "Invalid", as by the operator; an
// invalid workload of a file is an error.
Result<plan::PlanReport> PlanCluster(const cluster::Cluster& cluster, const PlanChoice& choice);

// Keeps only the entries of one namespace; all if it is "".
void KeepSpace(const std::string& space, plan::PlanReport& report);

std::string Encode(const nlohmann::ordered_json& value, const std::string& format);  // json, yaml

// Prints "weft: MESSAGE" on standard error and returns the error's exit code. A message about an
// object of the input's files gets its line number; the files are read once more for that.
int Fail(const Error& error, const InputArguments& input = {});
// Prints the text on standard output and returns `code`, or the code of a failure. With --watch, a
// terminal shows only the last text, and a pipe gets the text only if `what` has changed since the
// last call. `what`: the part that counts, such as the text without its clock; "": the whole text.
int Print(const std::string& text, int code, const std::string& what = "");

// Runs the command whenever the cluster may have changed, until it fails or the process is ended.
int Watch(InputArguments& input, const std::function<int()>& command);

// Prints notes on standard error, one line each.
void Remark(const std::vector<cluster::Note>& notes);

render::TextOptions TextStyle();

}  // namespace weft::cli
