#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "operator/base/quantity.h"
#include "operator/cli/commands.h"
#include "operator/cli/session.h"
#include "operator/cluster/note.h"
#include "operator/program/price_file.h"
#include "operator/render/advise_text.h"
#include "operator/report/advise.h"

namespace weft::cli {

namespace {

// A fabric of a million accelerators is the largest that Weft is made for.
constexpr std::int64_t kMostGpus = 1'000'000;

std::optional<std::int64_t> Count(std::string_view text) {
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (count < 1 || count > kMostGpus) return std::nullopt;
  return count;
}

// "512", "8..1024".
Status ReadGpus(const std::string& text, report::AdviceRequest& request) {
  if (text.empty()) return {};
  const std::size_t dots = text.find("..");
  const auto least = Count(std::string_view(text).substr(0, dots));
  const auto most =
      dots == std::string::npos ? least : Count(std::string_view(text).substr(dots + 2));
  if (!least || !most || *least > *most) {
    return Invalid("--gpus: \"" + text +
                   "\" must be a number from 1 to 1000000, or two such as 8..1024");
  }
  request.least = *least;
  request.most = *most;
  return {};
}

// "15T": a whole number of tokens.
Result<double> Tokens(const std::string& text) {
  constexpr std::int64_t kMilli = 1000;
  const auto tokens = ParseQuantity(text), milli = ParseMilliQuantity(text);
  const bool whole = !milli || *milli % kMilli == 0;  // too large for thousandths: whole
  if (tokens && *tokens >= 1 && whole) return static_cast<double>(*tokens);
  return Invalid("--tokens: \"" + text +
                 "\" must be a whole number above 0; write 1G for a billion, 15T for 15 trillion");
}

Status ReadRequest(const AdviseArguments& arguments, report::AdviceRequest& request) {
  request.job = arguments.job;
  const bool bare = !arguments.job.empty() && arguments.job.find('/') == std::string::npos;
  if (bare && !arguments.input.space.empty()) {
    request.job = arguments.input.space + "/" + arguments.job;
  }
  request.rows = static_cast<std::size_t>(arguments.rows);
  if (Status gpus = ReadGpus(arguments.gpus, request); !gpus) return gpus;
  if (!arguments.tokens.empty()) {
    const auto tokens = Tokens(arguments.tokens);
    if (!tokens) return tokens.error();
    request.tokens = *tokens;
  }
  if (arguments.deadline_days > 0) request.deadline_days = arguments.deadline_days;
  if (arguments.budget > 0) request.budget = arguments.budget;
  if (!request.tokens && (request.deadline_days || request.budget)) {
    return Invalid("--deadline and --budget need --tokens");
  }
  if (request.budget && arguments.prices.empty()) return Invalid("--budget needs --prices");
  return {};
}

}  // namespace

int RunAdvise(const AdviseArguments& arguments) {
  report::AdviceRequest request;
  if (const Status read = ReadRequest(arguments, request); !read) return Fail(read.error());
  const auto cluster = ReadCluster(arguments.input, api::Reading::kModel);
  if (!cluster) return Fail(cluster.error(), arguments.input);
  std::optional<outlook::Prices> prices;
  if (const Status read = program::ReadPricesFor(*cluster, arguments.prices, prices); !read) {
    return Fail(read.error());
  }
  if (prices) request.prices = &*prices;
  const auto advice = report::Advise(*cluster, request);
  if (!advice) return Fail(advice.error(), arguments.input);
  const int code = advice->layouts.empty() ? kNotPlaced : kDone;
  if (arguments.output == "table") return Print(render::AdviceText(*advice, TextStyle()), code);
  Remark(advice->notes);
  if (arguments.output == "json") return Print(Encode(report::AdviceJson(*advice), "json"), code);
  if (advice->layouts.empty()) {
    Remark({{cluster::Severity::kWarning, "NoLayout", "no layout is left. " + advice->why_none}});
    return code;
  }
  if (advice->no_template) {
    Remark({{cluster::Severity::kWarning, "NoTemplate",
             "the input has no spec.workers.template: set the image and the command of the "
             "container before you apply the TrainingJob"}});
  }
  return Print(Encode(report::AdvisedJob(*cluster, *advice, advice->layouts.front()), "yaml"),
               code);
}

}  // namespace weft::cli
