#include "operator/simulate/read_trace.h"

#include <gtest/gtest.h>

namespace weft::simulate {
namespace {

Result<Trace> Read(const std::string& format, const std::string& text) {
  return ReadTrace({.source = "trace.csv", .text = text, .format = format, .part = ""});
}

// "name arrival run gpus expected priority", a line each, times in seconds.
std::string Shown(const Result<Trace>& trace) {
  if (!trace) return trace.error().message;
  std::string text;
  for (const TraceJob& job : trace->jobs) {
    text += job.name + " " + std::to_string(job.arrival / kSecond) + " " +
            std::to_string(job.run / kSecond) + " " + std::to_string(job.gpus) + " " +
            (job.expected_seconds ? std::to_string(*job.expected_seconds) : "-") + " " +
            std::to_string(job.priority) + "\n";
  }
  return text;
}

TEST(ReadTrace, PhillySortsByTimeAndNamesJobsByLine) {
  EXPECT_EQ(Shown(Read("philly",
                       "timestamp,duration,num_gpus,gpu_time,cluster\n"
                       "2017-10-09 07:01:55,66.0,1,66.0,11cb48\n"
                       "2017-10-09 07:01:45,2951.5,8,1,6214e9\n")),
            "line-3 0 2951 8 - 0\n"
            "line-2 10 66 1 - 0\n");
}

TEST(ReadTrace, APartIsOneVirtualCluster) {
  const auto trace = ReadTrace({.source = "trace.csv",
                                .text = "timestamp,duration,num_gpus,gpu_time,cluster\n"
                                        "2017-10-09 07:01:55,66.0,1,66.0,a\n"
                                        "2017-10-09 07:01:45,2951.5,8,1,b\n",
                                .format = "philly",
                                .part = "a"});
  EXPECT_EQ(Shown(trace), "line-2 0 66 1 - 0\n");
}

TEST(ReadTrace, HeliosInBothOfItsForms) {
  EXPECT_EQ(Shown(Read("helios", "job_id,arrival_s,service_sec,gpu_count\n7#0,5.0,60.0,32\n")),
            "7#0 0 60 32 - 0\n");
  EXPECT_EQ(Shown(Read("helios",
                       "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,"
                       "start_time,end_time,duration,queue\n"
                       "1,u,v,\"a, b\",8,4,1,COMPLETED,2020-04-01 00:00:00,x,y,12,0\n"
                       "2,u,v,n,0,4,1,COMPLETED,2020-04-01 00:00:09,x,y,12,0\n")),
            "1 0 12 8 - 0\n");
}

TEST(ReadTrace, AcmeJobs) {
  EXPECT_EQ(Shown(Read("acme",
                       "job_id,user,node_num,gpu_num,type,state,submit_time,duration\n"
                       "x,u,1,8,Pretrain,COMPLETED,2023-03-01 00:00:06+08:00,90\n"
                       "y,u,1,2,Eval,COMPLETED,2023-03-01 00:00:01+08:00,30\n")),
            "y 0 30 2 - 0\n"
            "x 5 90 8 - 0\n");
}

TEST(ReadTrace, AcmeSharesGiveJobsOfTheListedSizes) {
  const std::string shares =
      "cluster,metric,gpus_le,cdf_pct\n"
      "S,jobs,1,50\nS,jobs,7.999,50\nS,jobs,8,100\nS,gpu_time,1,10\nS,gpu_time,8,100\n";
  const auto trace = Read("acme", shares);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->jobs.size(), 10'000U);
  double small = 0, time_small = 0, time = 0;
  for (const TraceJob& job : trace->jobs) {
    const double gpu_time = static_cast<double>(job.run) * job.gpus;
    ASSERT_TRUE(job.gpus == 1 || job.gpus == 8);
    small += job.gpus == 1 ? 1 : 0;
    time_small += job.gpus == 1 ? gpu_time : 0;
    time += gpu_time;
  }
  EXPECT_NEAR(small / 10'000, 0.5, 0.02);
  EXPECT_NEAR(time_small / time, 0.1, 0.03);
  EXPECT_EQ(Shown(Read("acme", shares)), Shown(trace));
}

TEST(ReadTrace, SacctLeavesOutStepsAndJobsThatRun) {
  const auto trace =
      Read("sacct",
           "JobID|Submit|Start|End|Elapsed|AllocTRES|Timelimit\n"
           "1|2024-05-01T10:00:00|x|2024-05-01T12:00:00|1-00:00:05|billing=1,gres/gpu:h100=8,"
           "gres/gpu=8,node=1|2-00:00:00\n"
           "1.batch|2024-05-01T10:00:00|x|x|00:00:05|gres/gpu=8|\n"
           "2|2024-05-01T09:59:00|x|Unknown|00:00:05|gres/gpu=8|UNLIMITED\n"
           "3|2024-05-01T10:00:30|x|x|02:03|gres/gpu:a100=2|UNLIMITED\n"
           "4|2024-05-01T10:00:31|x|x|00:01|cpu=2|UNLIMITED\n");
  EXPECT_EQ(Shown(trace),
            "1 0 86405 8 172800 0\n"
            "3 30 123 2 - 0\n");
  EXPECT_EQ(trace->not_ended, 1U);
  EXPECT_EQ(trace->without_gpu, 1U);
}

TEST(ReadTrace, WeftHasEstimatesAndPriorities) {
  EXPECT_EQ(Shown(Read("weft",
                       "gpus,job,runSeconds,arrivalSeconds,expectedSeconds,priority\n"
                       "8,a,60.5,3,90,-2\n\n1,b,1,0.5,,\n\n")),
            "b 0 1 1 - 0\n"
            "a 2 60 8 90 -2\n");
}

TEST(ReadTrace, NamesTheLineAndTheColumnOfAMistake) {
  const std::string header = "job,arrivalSeconds,runSeconds,gpus\n";
  EXPECT_EQ(Shown(Read("weft", header + "a,0,1,1\nb,1,x,1\n")),
            "trace.csv: line 3: column runSeconds: \"x\" is not a number of seconds");
  EXPECT_EQ(Shown(Read("weft", header + "a,0,-1,1\n")),
            "trace.csv: line 2: column runSeconds: \"-1\" is not a number of seconds");
  EXPECT_EQ(Shown(Read("weft", header + "a,0,nan,1\n")),
            "trace.csv: line 2: column runSeconds: \"nan\" is not a number of seconds");
  EXPECT_EQ(Shown(Read("weft", header + "a,0,1,1.5\n")),
            "trace.csv: line 2: column gpus: \"1.5\" is not a number of GPUs");
  EXPECT_EQ(Shown(Read("weft", header + "a,soon,1,1\n")),
            "trace.csv: line 2: column arrivalSeconds: \"soon\" is neither a time such as "
            "2017-10-09 07:01:55 nor a number of seconds");
  EXPECT_EQ(Shown(Read("weft", header + "a,0,1\n")),
            "trace.csv: line 2: has 3 cells, and the first line names 4 columns");
  EXPECT_EQ(Shown(Read("weft", header + "\"a,0,1,1\n")),
            "trace.csv: line 2: a quote is not closed");
  EXPECT_EQ(Shown(Read("philly", "timestamp,duration\n")),
            "trace.csv: line 1: no column is called gpus or num_gpus or gpu_count or gpu_num");
  EXPECT_EQ(Shown(Read("sacct",
                       "JobID|Submit|ElapsedRaw|AllocTRES\n1|2024-05-01T10:00:00|5|"
                       "gres/gpu=x\n")),
            "trace.csv: line 2: column AllocTRES: \"gres/gpu=x\" is not a number of GPUs");
  EXPECT_EQ(Shown(Read("weft", header)), "trace.csv: holds no job with a GPU");
  EXPECT_EQ(Shown(Read("weft", "")), "trace.csv: is empty; the first line must name the columns");
}

}  // namespace
}  // namespace weft::simulate
