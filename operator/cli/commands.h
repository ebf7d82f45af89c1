#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "operator/cli/spares_arguments.h"
#include "operator/designs/reference_design.h"
#include "operator/import/import_csv.h"
#include "operator/import/import_links.h"
#include "operator/simulate/faults.h"

namespace weft::cli {

// Exit codes of `weft`.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;     // a failure outside the input
inline constexpr int kBadInput = 2;   // usage or input; nothing on standard output
inline constexpr int kNotPlaced = 3;  // something could not be placed

class LiveView;

// Source of a command's objects: manifests, a cluster, or both; with both, the manifests count as
// applied to the cluster.
struct InputArguments {
  std::vector<std::string> files;
  std::string kubeconfig, context;  // "": not given
  bool cluster = false;             // use the default kubeconfig and context
  std::string space;                // only jobs and gangs of this namespace; "": all
  std::string accelerators;         // a file of more accelerators; "": none
  bool queues = false;              // of a cluster, also read what waits in queues of Kueue
  bool watch = false;               // repeat the command when the cluster changes
  std::shared_ptr<LiveView> view;   // of the watched cluster

  bool live() const { return cluster || !kubeconfig.empty() || !context.empty(); }
};

// The arguments of each command. Every Run function prints its output and returns the exit code;
// standard output stays empty unless the whole input is valid.
struct PlanArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
  bool compare = false;          // also place as schedulers that ignore traffic would
  bool timings = false;
  std::string effort = "normal";  // quick, normal, thorough
  std::string order;              // file, operator; "": "file" for files, "operator" for a cluster
};
int RunPlan(const PlanArguments& arguments);

struct ExplainArguments {
  InputArguments input;
  std::string output = "table";    // table, json, yaml
  std::vector<std::string> names;  // "namespace/name" or "name"; empty: all
};
int RunExplain(const ExplainArguments& arguments);

struct AuditArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
};
int RunAudit(const AuditArguments& arguments);

struct OutlookArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
  std::string prices;            // a file; "" none
};
int RunOutlook(const OutlookArguments& arguments);

struct AdviseArguments {
  InputArguments input;
  std::string output = "table";          // table, json, yaml: the best layout as a TrainingJob
  std::string job;                       // "namespace/name" or "name"; "" the only one
  std::string gpus;                      // "512" or "8..1024"; "" as many as the job has
  std::string tokens;                    // a quantity; "" none
  std::string prices;                    // a file; "" none
  double deadline_days = 0, budget = 0;  // 0: none
  int rows = 10;
  SparesArguments spares;  // if asked for, of the rest only input and output count
};
int RunAdvise(const AdviseArguments& arguments);
int RunAdviseSpares(const AdviseArguments& arguments);

struct SimulateArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
  std::string fabric;            // its name; "": the only one
  std::string trace;             // a file; "": the jobs of the manifests alone
  std::string format;            // of simulate/trace.h
  std::string only;              // one virtual cluster of the trace; "": all
  std::size_t jobs = 10'000;     // to draw from published shares
  std::vector<std::string> policies = {"weft"}, orders = {"priority"}, backfills = {"reserve"};
  bool past = false;                 // also the jobs of the input that have ended
  std::string estimates = "exact";   // exact, none
  double load = 0;                   // 0: arrivals as they are
  std::string prices;                // a file; "" none
  std::int64_t reserve_after = 600;  // seconds of waiting
  std::string report;                // a file for the HTML report; "": none
  double map_at = -1;                // seconds; -1: when the most GPUs wait
  std::string events;                // a file for a CSV of all events; "": none
  std::vector<std::string> sweep;    // "load=0.7,0.9", ...
  simulate::FaultOptions faults;
  bool advise = false;
  std::uint64_t seed = 1;
};
int RunSimulate(const SimulateArguments& arguments);

struct LintArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
};
int RunLint(const LintArguments& arguments);

struct VerifyArguments {
  std::optional<std::int64_t> rank, world;  // both or neither
  std::string file = "/dev/termination-log";
  std::optional<double> step;       // measured seconds of a step; then nothing else is verified
  std::string job;                  // "namespace/name" or "name"; "": the job of this pod
  std::string space;                // of a job without namespace; "": the context's
  std::string kubeconfig, context;  // "": not given
};
int RunVerify(const VerifyArguments& arguments);

struct SnapshotArguments {
  InputArguments input;
  std::string order;  // as above
};
int RunSnapshot(const SnapshotArguments& arguments);

struct MapArguments {
  InputArguments input;
  std::string output = "html";  // html, svg
  std::string fabric;           // svg: the fabric's name; "": the first
  std::string serve;            // host:port of a page that follows the cluster; "": none
};
int RunMap(const MapArguments& arguments);

struct TopArguments {
  InputArguments input;
  std::string output = "table";  // table, wide, json, yaml
};
int RunTop(const TopArguments& arguments);

struct QueueArguments {
  InputArguments input;
  std::string output = "table";      // table, wide, json, yaml
  std::int64_t reserve_after = 600;  // as weft-operator's --reserve-after
};
int RunQueue(const QueueArguments& arguments);

struct ReportArguments {
  std::string output = "table";  // table, json, yaml
  std::string prometheus;        // the server's URL
  std::string since = "7d";
  std::string until;                       // RFC 3339; "": now
  std::string space;                       // only this namespace; "": all
  std::string match;                       // more label matchers; "": none
  std::string token_file, authority_file;  // "": none
  bool insecure = false;
  std::string prices;  // a file; "" none
};
int RunReport(const ReportArguments& arguments);

struct ShowArguments {
  InputArguments input;
  std::string output = "table";  // table, json, yaml
  bool nodes = false;            // list every node
};
int RunFabricShow(const ShowArguments& arguments);

struct GenerateArguments {
  std::string design;
  designs::Geometry geometry;  // used instead of a design
  std::string accelerators;    // a file of more accelerators, for the Fabric; "": none
  std::string fabric_name;     // "": "default"
  int nodes = 0;
  int fragmented = 0;
  std::uint64_t seed = 1;
  int gpus_per_node = 0;
  bool list = false;
};
int RunFabricGenerate(const GenerateArguments& arguments);

struct ImportArguments {
  std::string file;
  std::string format;    // of import::Formats(); "": detected from the options and the text
  std::string topology;  // of a Slurm topology.yaml; "": its default
  std::vector<std::string> levels;
  import::CsvOptions::Columns columns;
  import::ImportLinks links;
  int gpus_per_node = 0;
  std::string resource = "nvidia.com/gpu";
  std::string fabric_name = "default";
  bool strict = false;  // what cannot be read is an error, not a warning
};
int RunFabricImport(const ImportArguments& arguments);

}  // namespace weft::cli
