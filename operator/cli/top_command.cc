#include <ctime>
#include <nlohmann/json.hpp>

#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/render/top_text.h"
#include "operator/report/half_gangs.h"
#include "operator/report/overview.h"

namespace weft::cli {

int RunTop(const TopArguments& arguments) {
  const auto cluster = ReadCluster(arguments.input);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  Remark(report::NotesOf(report::HalfGangs(*cluster->inputs, arguments.input.space)));
  const auto show = [&](UnixSeconds now) {
    const report::Overview overview = report::MakeOverview(*cluster, arguments.input.space, now);
    if (arguments.output == "json" || arguments.output == "yaml") {
      return Encode(report::OverviewJson(overview), arguments.output);
    }
    return render::TopText(overview, TextStyle(), arguments.output == "wide");
  };
  // A change of only the ages is not printed again.
  return Print(show(static_cast<UnixSeconds>(std::time(nullptr))), kDone, show(0));
}

}  // namespace weft::cli
