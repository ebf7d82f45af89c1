#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include "operator/cli/commands.h"
#include "operator/cli/period.h"
#include "operator/cli/session.h"
#include "operator/kube/http_transport.h"
#include "operator/program/price_file.h"
#include "operator/promql/prometheus.h"
#include "operator/render/usage_text.h"
#include "operator/report/usage_report.h"

namespace weft::cli {

namespace {

Result<report::Period> PeriodOf(const ReportArguments& arguments) {
  report::Period period;
  const auto seconds = ParsePeriod(arguments.since);
  if (!seconds) {
    return Invalid("--since: \"" + arguments.since +
                   "\" is no time from 10m to 3650d, such as 7d, 36h or 1d12h");
  }
  period.seconds = *seconds;
  period.until = std::time(nullptr);
  if (arguments.until.empty()) return period;
  const auto until = ParseTime(arguments.until);
  if (!until) {
    return Invalid("--until: \"" + arguments.until +
                   "\" is no RFC 3339 time, such as 2026-11-01T00:00:00Z");
  }
  period.until = *until;
  return period;
}

// The error behind the server's URL. Errors of the connection begin with it already.
Error At(const std::string& url, Error error) {
  const std::string server = url.substr(0, url.find_last_not_of('/') + 1);
  if (!error.message.starts_with(server)) error.message = server + ": " + error.message;
  return error;
}

Result<report::UsageAnswers> AskAll(kube::Transport& server, const report::Period& period,
                                    const ReportArguments& arguments) {
  report::UsageAnswers answers;
  for (std::size_t q = 0; q < report::kUsageQueries; ++q) {
    const std::string query =
        report::QueryText(static_cast<report::UsageQuery>(q), period, arguments.match);
    auto answer = promql::QueryPrometheus(server, {query, period.until});
    if (!answer) return At(arguments.prometheus, answer.error());
    answers[q] = *std::move(answer);
  }
  return answers;
}

}  // namespace

int RunReport(const ReportArguments& arguments) {
  const auto period = PeriodOf(arguments);
  if (!period) return Fail(period.error());
  Result<kube::Config> config = promql::ConfigOf(
      {arguments.prometheus, arguments.token_file, arguments.authority_file, arguments.insecure});
  if (!config) return Fail(config.error());
  std::optional<outlook::Prices> prices;
  if (Status read = program::ReadPricesOf(arguments.prices, {.any = true}, prices); !read) {
    return Fail(read.error());
  }
  kube::UseThreads(1);
  const auto server = kube::MakeHttpTransport(*std::move(config), "weft/" WEFT_VERSION);
  const auto answers = AskAll(*server, *period, arguments);
  if (!answers) return Fail(answers.error());
  const auto report =
      report::MakeUsageReport(*answers, *period, arguments.space, prices ? &*prices : nullptr);
  if (arguments.output == "json" || arguments.output == "yaml") {
    return Print(Encode(report::UsageJson(report), arguments.output), kDone);
  }
  return Print(render::UsageText(report, TextStyle()), kDone);
}

}  // namespace weft::cli
