#include "operator/simulate/read_trace.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "operator/simulate/published_shares.h"
#include "operator/simulate/trace_columns.h"

namespace weft::simulate {
namespace {

constexpr std::int64_t kSecondsPerMinute = 60;

// Reads the header, finds the columns by it, then reads each line. Ends with the first error.
template <typename FindColumns, typename ReadLine>
Status ReadRows(TraceColumns& table, FindColumns find_columns, ReadLine read_line) {
  if (Status header = table.ReadHeader(); !header) return header;
  if (Status columns = find_columns(); !columns) return columns;
  while (true) {
    const auto more = table.Next();
    if (!more) return more.error();
    if (!*more) return {};
    if (Status read = read_line(); !read) return read;
  }
}

// The columns of a table of jobs. Of run and end, one is enough.
struct JobColumns {
  std::optional<std::size_t> name, part, end, start, expected, priority;
  std::optional<std::size_t> run;
  std::size_t arrival = 0, gpus = 0;
};

class TableReader {
 public:
  explicit TableReader(const TraceText& input)
      : input_(input), table_(input.source, input.text, ',') {}

  Result<Trace> Run() {
    Status read = ReadRows(
        table_, [&] { return FindColumns(); }, [&] { return ReadLine(); });
    if (!read) return read.error();
    return std::move(trace_);
  }

 private:
  Status FindColumns() {
    const auto gpus = table_.Need({"gpus", "num_gpus", "gpu_count", "gpu_num"});
    if (!gpus) return gpus.error();
    const auto arrival = table_.Need({"arrivalSeconds", "timestamp", "arrival_s", "submit_time"});
    if (!arrival) return arrival.error();
    const auto run = table_.Need({"runSeconds", "duration", "service_sec"});
    if (!run) return run.error();
    columns_.gpus = *gpus;
    columns_.arrival = *arrival;
    columns_.run = *run;
    columns_.name = table_.Find({"job", "job_id"});
    columns_.part = table_.Find({"cluster", "vc", "queue_name"});
    columns_.expected = table_.Find({"expectedSeconds"});
    columns_.priority = table_.Find({"priority"});
    if (!input_.part.empty() && !columns_.part) {
      return table_.AtLine("no column is called cluster or vc, so no part can be chosen");
    }
    return {};
  }

  Status ReadLine() {
    if (!input_.part.empty() && table_.cell(*columns_.part) != input_.part) return {};
    TraceJob job;
    const auto gpus = table_.Count(columns_.gpus);
    if (!gpus) return gpus.error();
    const auto arrival = table_.Time(columns_.arrival);
    if (!arrival) return arrival.error();
    const auto run = table_.MicrosOf(*columns_.run);
    if (!run) return run.error();
    if (*gpus == 0) {
      ++trace_.without_gpu;
      return {};
    }
    job.gpus = *gpus;
    job.arrival = *arrival;
    job.run = *run;
    if (columns_.name) job.name = table_.cell(*columns_.name);
    if (job.name.empty()) job.name = "line-" + std::to_string(table_.line());
    if (Status extra = ReadExtra(job); !extra) return extra;
    trace_.jobs.push_back(std::move(job));
    return {};
  }

  Status ReadExtra(TraceJob& job) {
    if (columns_.expected && !table_.cell(*columns_.expected).empty()) {
      const auto expected = table_.MicrosOf(*columns_.expected);
      if (!expected) return expected.error();
      job.expected_seconds = (*expected + kSecond - 1) / kSecond;
    }
    if (!columns_.priority || table_.cell(*columns_.priority).empty()) return {};
    const auto priority = table_.Whole(*columns_.priority);
    if (!priority) return priority.error();
    job.priority = *priority;
    return {};
  }

  const TraceText& input_;
  TraceColumns table_;
  JobColumns columns_;
  Trace trace_;
};

class SacctReader {
 public:
  explicit SacctReader(const TraceText& input) : table_(input.source, input.text, '|') {}

  Result<Trace> Run() {
    Status read = ReadRows(
        table_, [&] { return FindColumns(); }, [&] { return ReadLine(); });
    if (!read) return read.error();
    return std::move(trace_);
  }

 private:
  Status FindColumns() {
    const auto id = table_.Need({"JobIDRaw", "JobID"});
    if (!id) return id.error();
    const auto submit = table_.Need({"Submit"});
    if (!submit) return submit.error();
    const auto run = table_.Need({"ElapsedRaw", "Elapsed"});
    if (!run) return run.error();
    const auto tres = table_.Need({"AllocTRES", "ReqTRES"});
    if (!tres) return tres.error();
    id_ = *id;
    submit_ = *submit;
    run_ = *run;
    tres_ = *tres;
    run_is_raw_ = table_.Find({"ElapsedRaw"}).has_value();
    requested_ = table_.Find({"ReqTRES"});
    end_ = table_.Find({"End"});
    limit_raw_ = table_.Find({"TimelimitRaw"});
    limit_ = table_.Find({"Timelimit"});
    return {};
  }

  Status ReadLine() {
    const std::string_view id = table_.cell(id_);
    if (id.find('.') != std::string_view::npos) return {};  // a step of a job
    if (end_ && table_.cell(*end_) == "Unknown") {
      ++trace_.not_ended;
      return {};
    }
    auto gpus = Gpus(tres_);
    if (gpus && *gpus == 0 && requested_) gpus = Gpus(*requested_);
    if (!gpus) return gpus.error();
    if (*gpus == 0) {
      ++trace_.without_gpu;
      return {};
    }
    const auto submit = table_.Time(submit_);
    if (!submit) return submit.error();
    const auto run = run_is_raw_ ? table_.MicrosOf(run_) : table_.Duration(run_);
    if (!run) return run.error();
    const auto limit = Limit();
    if (!limit) return limit.error();
    trace_.jobs.push_back({std::string(id), *submit, *run, *gpus, *limit, 0});
    return {};
  }

  // GPUs in "billing=8,cpu=96,gres/gpu:h100=8,gres/gpu=8,node=1": the total, else the sum of types.
  Result<std::uint32_t> Gpus(std::size_t column) const {
    std::string_view rest = table_.cell(column);
    std::uint32_t total = 0, typed = 0;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      const std::string_view item = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      constexpr std::string_view kGpu = "gres/gpu";
      const std::size_t equals = item.find('=');
      if (!item.starts_with(kGpu) || equals == std::string_view::npos) continue;
      std::uint32_t count = 0;
      const char* stop = item.data() + item.size();
      const auto [at, error] = std::from_chars(item.data() + equals + 1, stop, count);
      if (error != std::errc() || at != stop) {
        return table_.At(column, import::Quoted(item) + " is not a number of GPUs");
      }
      (equals == kGpu.size() ? total : typed) += count;
    }
    return total > 0 ? total : typed;
  }

  Result<std::optional<std::int64_t>> Limit() const {
    const std::optional<std::size_t> column = limit_raw_ ? limit_raw_ : limit_;
    if (!column) return std::optional<std::int64_t>();
    const std::string_view text = table_.cell(*column);
    if (text.empty() || text == "UNLIMITED" || text == "Partition_Limit") {
      return std::optional<std::int64_t>();
    }
    if (limit_raw_) {
      const auto minutes = table_.Whole(*column);
      if (!minutes) return minutes.error();
      return std::optional(*minutes * kSecondsPerMinute);
    }
    const auto limit = table_.Duration(*column);
    if (!limit) return limit.error();
    return std::optional(*limit / kSecond);
  }

  TraceColumns table_;
  std::size_t id_ = 0, submit_ = 0, run_ = 0, tres_ = 0;
  bool run_is_raw_ = true;
  std::optional<std::size_t> requested_, end_, limit_raw_, limit_;
  Trace trace_;
};

// Whether the first line names the columns of published shares rather than of jobs.
bool HoldsShares(std::string_view text) {
  return text.substr(0, text.find('\n')).find("cdf_pct") != std::string_view::npos;
}

Result<Trace> ReadJobs(const TraceText& input) {
  if (input.format == "sacct") return SacctReader(input).Run();
  if (input.format == "acme" && HoldsShares(input.text)) return DrawFromShares(input);
  return TableReader(input).Run();
}

}  // namespace

Result<Trace> ReadTrace(const TraceText& input) {
  Result<Trace> trace = ReadJobs(input);
  if (!trace) return trace;
  std::vector<TraceJob>& jobs = trace->jobs;
  if (jobs.empty()) {
    return Invalid(input.source + ": holds no job with a GPU" +
                   (input.part.empty() ? "" : " in " + import::Quoted(input.part)));
  }
  std::stable_sort(jobs.begin(), jobs.end(),
                   [](const TraceJob& a, const TraceJob& b) { return a.arrival < b.arrival; });
  const Micros first = jobs.front().arrival;
  for (TraceJob& job : jobs) job.arrival -= first;
  return trace;
}

}  // namespace weft::simulate
