#include "operator/manager/operator_flags.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "operator/api/names.h"
#include "operator/manifest/reader.h"
#include "operator/program/help.h"
#include "operator/program/terminal.h"

namespace weft::manager {
namespace {

constexpr const char* kConfigVersion = "config.weft.dev/v1alpha1";
constexpr const char* kConfigKind = "OperatorConfiguration";

// The flags of the operator's servers.
void DefineServers(CLI::App& app, OperatorFlags& flags) {
  app.add_option("--probe-address", flags.probe_address,
                 "address:port of /healthz and /readyz, and on a loopback address also of /metrics "
                 "and the map; empty: not served");
  app.add_option("--grpc-address", flags.grpc_address,
                 "address:port of the gRPC service weft.v1.PlacementService, \":8082\" for every "
                 "address; empty: not served");
  app.add_option("--grpc-certificate", flags.grpc_certificate,
                 "PEM file: certificate of the gRPC service, reloaded when it changes; callers "
                 "must then present one that --grpc-client-ca signed");
  app.add_option("--grpc-key", flags.grpc_key, "PEM file: key of --grpc-certificate");
  app.add_option("--grpc-client-ca", flags.grpc_client_ca,
                 "PEM file: CAs that sign the callers' certificates");
  app.add_flag("--grpc-network", flags.grpc_network,
               "allow a --grpc-address that other machines can reach; requires certificates");
  app.add_flag("--grpc-require-token", flags.grpc_require_token,
               "refuse calls without a bearer token; by default a caller without a token is the "
               "user weft-grpc:NAME, where NAME is the common name of its certificate");
  app.add_option("--metrics-address", flags.metrics_address,
                 "address:port of /metrics and the map, \":8443\" for every address; default: "
                 "--probe-address");
  app.add_option("--metrics-security", flags.metrics_security,
                 "tls: requires TLS and the bearer token of an account that may get /metrics; "
                 "none: requires neither; auto: none for a loopback address, else tls")
      ->check(program::OneOf({"auto", "tls", "none"}));
  app.add_option("--metrics-cert-dir", flags.metrics_cert_dir,
                 "folder with tls.crt and tls.key, reloaded when they change; default: the "
                 "certificate in --metrics-secret");
  app.add_option("--metrics-secret", flags.metrics_secret,
                 "Secret in the Lease's namespace that holds the certificate of /metrics for all "
                 "replicas; must have the same name as the Service of /metrics; created if "
                 "missing; empty: each "
                 "replica signs its own certificate, which scrapers cannot verify");
}

// The server that has the metrics of jobs.
void DefinePrometheus(CLI::App& app, OperatorFlags& flags) {
  app.add_option(
      "--prometheus", flags.prometheus,
      "URL of the Prometheus that scrapes the pods of jobs, or of a server with the same "
      "API; the metric that a TrainingJob names in the annotation weft.dev/step-metric "
      "is read there; empty: none is read");
  app.add_option("--prometheus-token-file", flags.prometheus_token_file,
                 "file with the bearer token for --prometheus, read again once a minute; empty: "
                 "none is sent");
  app.add_option("--prometheus-certificate-authority", flags.prometheus_certificate_authority,
                 "PEM file: trust only these certificates for an https --prometheus; default: the "
                 "system's");
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
  return parts;
}

std::string FaultOfResources(const std::string& text) {
  for (const std::string& name : SplitAtCommas(text)) {
    if (api::IsExtendedResource(name)) continue;
    return "\"" + name + "\" is not an extended resource such as example.com/gpu";
  }
  return {};
}

// What happens to jobs, and when.
void DefineJobs(CLI::App& app, OperatorFlags& flags) {
  app.add_option("--bind-deadline", flags.bind_deadline_seconds,
                 "seconds until a gang with unbound pods is taken down and placed again")
      ->check(program::WholeNumber(1, 86'400));
  app.add_option("--node-loss", flags.node_loss_seconds,
                 "seconds until a node that is not Ready counts as lost")
      ->check(program::WholeNumber(1, 86'400));
  app.add_option("--node-news", flags.node_news_seconds,
                 "seconds after which a node that was lost is certainly reported: "
                 "kube-controller-manager's --node-monitor-grace-period and some more; a job whose "
                 "program failed does not fail before that if a node may be to blame")
      ->check(program::WholeNumber(0, 3'600));
  app.add_option("--reserve-after", flags.reserve_after_seconds,
                 "seconds that a job waits until nodes are reserved for it; jobs behind it in the "
                 "queue do not get them")
      ->check(program::WholeNumber(0, 31'536'000));
  app.add_option(
      "--pod-groups", flags.pod_groups,
      "put the pods of each attempt into a PodGroup, so that kube-scheduler binds all of "
      "them at once or none, where the API server serves scheduling.k8s.io/v1beta1");
  app.add_flag("--kueue", flags.kueue,
               "answer Kueue's AdmissionChecks whose controllerName is weft.dev/placement, and let "
               "TrainingJobs wait in Kueue's queues; Kueue may be installed later");
  app.add_option("--kueue-hold", flags.kueue_hold_seconds,
                 "seconds that a Workload of Kueue without room keeps its quota; then the quota is "
                 "given back and the Workload queued again")
      ->check(program::WholeNumber(1, 31'536'000));
}

void Define(CLI::App& app, OperatorFlags& flags, std::string& config) {
  app.option_defaults()->always_capture_default()->take_last();
  app.set_version_flag("--version", std::string("weft-operator ") + WEFT_VERSION);
  app.add_option("--config", config,
                 std::string("YAML file (apiVersion ") + kConfigVersion + ", kind " + kConfigKind +
                     ") whose settings are named like these flags; a flag overrides its setting");
  app.add_option(
      "--kubeconfig", flags.kubeconfig,
      "kubeconfig file; default: $KUBECONFIG, else ~/.kube/config, else the pod's service account");
  app.add_option("--context", flags.context,
                 "context of the kubeconfig; default: the current context");
  app.add_option("--namespace", flags.space,
                 "manage only this namespace's jobs and Placements; nodes, and pods of all "
                 "namespaces, are still read; default: all");
  app.add_option("--leader-elect", flags.leader_elect,
                 "act only while holding the Lease weft-operator, or weft-operator-reader with "
                 "--read-only");
  app.add_flag("--read-only", flags.read_only,
               "watch the cluster and answer requests, but write nothing except the Lease and the "
               "Secret of --metrics-secret");
  app.add_option("--lease-namespace", flags.lease_namespace,
                 "namespace of the Lease; default: the pod's own, else weft-system");
  app.add_option("--identity", flags.identity,
                 "name in the Lease; default: the host name and a random number");
  DefineJobs(app, flags);
  app.add_option("--accelerator-resources", flags.accelerator_resources,
                 "extended resources that are accelerators, separated by commas, beside those that "
                 "Weft knows and those that TrainingJobs, Placements, Fabrics and DeviceClasses "
                 "name")
      ->check(CLI::Validator(FaultOfResources, "RESOURCES"));
  app.add_option("--prices", flags.prices,
                 "YAML file with the price of an hour of each accelerator, for costPerHour of "
                 "Placements and weft_trainingjob_cost_per_hour; read at the start; default: no "
                 "costs are shown");
  DefinePrometheus(app, flags);
  app.add_option("--workers", flags.workers, "jobs reconciled at the same time")
      ->check(program::WholeNumber(1, 256));
  app.add_option("--writes-at-once", flags.writes_at_once,
                 "most concurrent requests to the API server, not counting watches and the Lease")
      ->check(program::WholeNumber(1, 256));
  app.add_option("--verify-image", flags.verify_image,
                 "image with `weft`, run as an init container of every worker to report where the "
                 "worker runs (condition PlacementVerified); empty: none");
  app.add_option("--requests-per-second", flags.requests_per_second,
                 "most requests per second to the API server, not counting watches")
      ->check(CLI::Range(1.0, 100'000.0));
  DefineServers(app, flags);
  app.add_option("--log-level", flags.log_level,
                 "lowest level that is logged: debug, info, warning or error")
      ->check(program::OneOf({"debug", "info", "warning", "error"}));
  app.add_option("--log-format", flags.log_format, "format of a log line: text or json")
      ->check(program::OneOf({"text", "json"}));
}

std::string TextOf(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The settings of a configuration file as flags; nothing if it is invalid, with the reason in
// `wrong`.
std::optional<std::vector<std::string>> ReadConfig(const std::string& path, std::string& wrong) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    wrong = path + ": cannot be read";
    return std::nullopt;
  }
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Result<nlohmann::json> document = manifest::ReadDocument({path, text});
  if (!document) {
    wrong = document.error().message;
    return std::nullopt;
  }
  if (!document->is_object() || document->value("apiVersion", "") != kConfigVersion ||
      document->value("kind", "") != kConfigKind) {
    wrong = path + ": must have apiVersion " + kConfigVersion + " and kind " + kConfigKind;
    return std::nullopt;
  }
  std::vector<std::string> arguments;
  for (const auto& [key, value] : document->items()) {
    if (key == "apiVersion" || key == "kind") continue;
    if (value.is_structured() || value.is_null() || key == "config") {
      wrong = path + ": " + key + ": is not a setting";
      return std::nullopt;
    }
    arguments.push_back("--" + key + "=" + TextOf(value));
  }
  return arguments;
}

// CLI11 would take the next argument as the value of "--name=".
std::vector<std::string> WithEmptyValues(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  for (const std::string& argument : arguments) {
    const bool empty = argument.starts_with("--") && argument.find('=') + 1 == argument.size();
    all.push_back(empty ? argument.substr(0, argument.size() - 1) : argument);
    if (empty) all.emplace_back();
  }
  return all;
}

}  // namespace

std::vector<std::string> AcceleratorResourcesOf(const OperatorFlags& flags) {
  return SplitAtCommas(flags.accelerator_resources);
}

ParsedFlags ParseOperatorFlags(const std::vector<std::string>& arguments) {
  ParsedFlags parsed;
  OperatorFlags flags;
  std::string config;
  const auto parse = [&](const std::vector<std::string>& as_given) {
    std::vector<std::string> all = WithEmptyValues(as_given);
    CLI::App app{"Places TrainingJobs on a cluster and runs them until they end", "weft-operator"};
    app.formatter(std::make_shared<program::HelpFormatter>(program::StandardOutput().columns));
    app.set_help_flag("-h,--help", "Print this help");
    flags = {};
    Define(app, flags, config);
    std::reverse(all.begin(), all.end());  // CLI11 expects them reversed
    try {
      app.parse(all);
      return true;
    } catch (const CLI::ParseError& error) {
      std::ostringstream out;
      const bool asked = error.get_exit_code() == 0;  // the user asked for help or the version
      if (asked) app.exit(error, out, out);
      parsed.exit_code = asked ? 0 : 2;
      parsed.text = asked ? out.str() : program::UsageError(app, error);
      return false;
    }
  };
  if (!parse(arguments)) return parsed;
  if (!config.empty()) {
    std::string wrong;
    auto all = ReadConfig(config, wrong);
    if (!all) return {std::nullopt, 2, wrong + "\n"};
    all->insert(all->end(), arguments.begin(), arguments.end());
    if (!parse(*all)) {
      if (parsed.exit_code != 0) parsed.text = config + ": " + parsed.text;
      return parsed;
    }
  }
  parsed.flags = flags;
  return parsed;
}

std::string ShowFlags(const OperatorFlags& flags) {
  std::ostringstream out;
  const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
  out << "--kubeconfig=" << quoted(flags.kubeconfig) << " --context=" << quoted(flags.context)
      << " --namespace=" << quoted(flags.space) << " --leader-elect=" << std::boolalpha
      << flags.leader_elect << " --read-only=" << flags.read_only
      << " --lease-namespace=" << quoted(flags.lease_namespace)
      << " --identity=" << quoted(flags.identity)
      << " --bind-deadline=" << flags.bind_deadline_seconds
      << " --node-loss=" << flags.node_loss_seconds << " --node-news=" << flags.node_news_seconds
      << " --reserve-after=" << flags.reserve_after_seconds << " --pod-groups=" << flags.pod_groups
      << " --kueue=" << flags.kueue << " --kueue-hold=" << flags.kueue_hold_seconds
      << " --accelerator-resources=" << quoted(flags.accelerator_resources)
      << " --prices=" << quoted(flags.prices) << " --prometheus=" << quoted(flags.prometheus)
      << " --prometheus-token-file=" << quoted(flags.prometheus_token_file)
      << " --prometheus-certificate-authority=" << quoted(flags.prometheus_certificate_authority)
      << " --workers=" << flags.workers << " --verify-image=" << quoted(flags.verify_image)
      << " --writes-at-once=" << flags.writes_at_once
      << " --requests-per-second=" << flags.requests_per_second
      << " --probe-address=" << quoted(flags.probe_address)
      << " --grpc-address=" << quoted(flags.grpc_address)
      << " --grpc-certificate=" << quoted(flags.grpc_certificate)
      << " --grpc-key=" << quoted(flags.grpc_key)
      << " --grpc-client-ca=" << quoted(flags.grpc_client_ca)
      << " --grpc-network=" << flags.grpc_network
      << " --grpc-require-token=" << flags.grpc_require_token
      << " --metrics-address=" << quoted(flags.metrics_address)
      << " --metrics-security=" << flags.metrics_security
      << " --metrics-cert-dir=" << quoted(flags.metrics_cert_dir)
      << " --metrics-secret=" << quoted(flags.metrics_secret) << " --log-level=" << flags.log_level
      << " --log-format=" << flags.log_format;
  return out.str();
}

}  // namespace weft::manager
