#include <nlohmann/json.hpp>

#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/render/queue_text.h"
#include "operator/report/half_gangs.h"
#include "operator/report/queue.h"

namespace weft::cli {

int RunQueue(const QueueArguments& arguments) {
  const auto read = ReadQueues(arguments.input);
  if (!read) return Fail(read.error(), arguments.input);
  const auto report = PlanCluster(
      read->cluster,
      {.order = cluster::Order::kOperator, .reserve_after_seconds = arguments.reserve_after});
  if (!report) return Fail(report.error(), arguments.input);
  const auto queue = report::MakeQueue(read->cluster, *report, read->waiting,
                                       {arguments.input.space, arguments.reserve_after});
  Remark(report->notes);
  const auto partly_started = report::HalfGangs(*read->cluster.inputs, arguments.input.space);
  Remark(report::NotesOf(partly_started));
  if (arguments.output == "json" || arguments.output == "yaml") {
    return Print(Encode(report::QueueJson(queue, partly_started), arguments.output), kDone);
  }
  return Print(render::QueueText(queue, TextStyle(), arguments.output == "wide"), kDone);
}

}  // namespace weft::cli
