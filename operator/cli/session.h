#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/cli/commands.h"
#include "operator/decide/plan.h"
#include "operator/render/text_format.h"

namespace weft::cli {

// What the commands share: read, build, decide, report.
// Live objects that cannot be read are named on standard error and left out.
Result<decide::Cluster> ReadCluster(const InputArguments& input);

// "file" and "operator" by name; "": the operator's own where the input is its cluster.
decide::Order OrderOf(const InputArguments& input, const std::string& name);

struct PlanChoice {
  decide::Order order = decide::Order::kFile;
  bool timed = false;
  std::string effort = "normal";  // quick, normal, thorough
};
// What is wrong with a workload of the cluster itself is the answer for that one ("Invalid"), as
// the operator gives it; with one from a file, an error.
Result<decide::PlanReport> PlanCluster(const decide::Cluster& cluster, const PlanChoice& choice);

// The entries of one namespace alone; of all where it is "".
void KeepSpace(const std::string& space, decide::PlanReport& report);

std::string Encode(const nlohmann::ordered_json& value, const std::string& format);  // json, yaml

// Prints "weft: MESSAGE" on standard error and returns the error's exit code. A message about an
// object of the input's files gets its line, for which the files are read once more.
int Fail(const Error& error, const InputArguments& input = {});
// Prints the text on standard output and returns `code`, or the failure's. Of a cluster that is
// watched a terminal shows the last text alone, and a pipe gets those that differ from the one
// before in `what`, such as the text without its clock; "": in the text.
int Print(const std::string& text, int code, const std::string& what = "");

// Runs the command whenever the cluster may have changed, until it fails or the process is ended.
int Watch(InputArguments& input, const std::function<int()>& command);

// Remarks that belong beside an answer and not into it: standard error, one line each.
void Remark(const std::vector<decide::Note>& notes);

render::TextOptions TextStyle();

}  // namespace weft::cli
