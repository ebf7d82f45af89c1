#include "operator/cli/command_line.h"
#include "operator/program/help.h"

// The commands that look at a cluster.
namespace weft::cli {

void CommandLine::AddTop() {
  CLI::App* command = Add(&app_, "top", "Show the GPUs in use and every job that has not ended",
                          "  kubectl weft top -w                     live\n"
                          "  weft top --cluster -n team-a -o wide\n"
                          "  weft top --context gpu-east -o json | jq .fabrics",
                          [this] { return RunTop(top_); });
  command->group(kLooking);
  AddInput(command, top_.input);
  top_.input.queues = true;
  AddOutput(command, top_.output, {"table", "wide", "json", "yaml"});
  AddNamespace(command, top_.input);
  AddWatch(command, top_.input);
}

void CommandLine::AddQueue() {
  CLI::App* command = Add(
      &app_, "queue",
      "Show which jobs wait for nodes or quota, in which order, and when each is expected to start",
      "  kubectl weft queue\n"
      "  weft queue --cluster -n team-a -o wide     and what would start them sooner\n"
      "  weft queue -f cluster.yaml -f jobs.yaml -o json | jq '.queue[0]'",
      [this] { return RunQueue(queue_); });
  command->group(kLooking);
  AddInput(command, queue_.input);
  queue_.input.queues = true;
  AddOutput(command, queue_.output, {"table", "wide", "json", "yaml"});
  AddNamespace(command, queue_.input);
  AddWatch(command, queue_.input);
  constexpr std::int64_t kYear = 31'536'000;
  command
      ->add_option("--reserve-after", queue_.reserve_after,
                   "Seconds that a job waits until nodes are reserved for it, as the operator's "
                   "flag of this name says")
      ->option_text("SECONDS")
      ->check(program::WholeNumber(0, kYear))
      ->capture_default_str();
}

void CommandLine::AddAudit() {
  CLI::App* command = Add(&app_, "audit", "Show what the placements of other schedulers cost",
                          "  kubectl get nodes,pods -A -o yaml | weft audit -f -\n"
                          "  weft audit -f cluster.yaml -o json | jq .total\n"
                          "  weft audit --context gpu-east",
                          [this] { return RunAudit(audit_); });
  command->group(kLooking);
  AddInput(command, audit_.input);
  AddOutput(command, audit_.output, {"table", "json", "yaml"});
  AddNamespace(command, audit_.input);
  AddWatch(command, audit_.input);
}

void CommandLine::AddReport() {
  CLI::App* command =
      Add(&app_, "report", "Show the GPU-hours that each namespace and queue used, from Prometheus",
          "  kubectl -n monitoring port-forward service/prometheus-operated 9090 &\n"
          "  weft report --since 7d --prometheus http://127.0.0.1:9090\n"
          "  weft report --since 30d --until 2026-11-01T00:00:00Z --prices prices.yaml \\\n"
          "      --prometheus https://prometheus.example.com --token-file token\n"
          "  weft report --match 'cluster=\"east\"' --prometheus http://thanos:10902 -o json",
          [this] { return RunReport(report_); });
  command->group(kLooking);
  const auto add = [command](const char* name, std::string& value, const char* what,
                             const char* help) {
    return command->add_option(name, value, help)->option_text(what);
  };
  add("--prometheus", report_.prometheus, "URL",
      "The server that scrapes weft-operator, or one with the same API, such as Thanos")
      ->required()
      ->group(kInput);
  add("--token-file", report_.token_file, "FILE", "Send the bearer token in this file")
      ->group(kInput);
  add("--certificate-authority", report_.authority_file, "FILE",
      "Trust only these certificates (PEM) for https; default: the system's")
      ->group(kInput);
  command
      ->add_flag("--insecure-skip-tls-verify", report_.insecure,
                 "Do not verify the server's certificate")
      ->group(kInput);
  add("--match", report_.match, "MATCHERS",
      "More label matchers for every series, if the server has the metrics of several clusters")
      ->group(kInput);
  add("--since", report_.since, "DURATION", "How far back, such as 7d, 36h or 1d12h")
      ->capture_default_str();
  add("--until", report_.until, "TIME", "The end, in RFC 3339; default: now");
  AddPrices(command, report_.prices, "what the GPU-hours cost");
  AddOutput(command, report_.output, {"table", "json", "yaml"});
  add("-n,--namespace", report_.space, "NAME", "Show only this namespace")->group(kOutput);
}

void CommandLine::AddMap() {
  CLI::App* command = Add(&app_, "map", "Draw the fabric with every job on it",
                          "  weft map -f cluster.yaml -f jobs.yaml > map.html\n"
                          "  weft map -f cluster.yaml -f jobs.yaml -o svg > map.svg\n"
                          "  weft map --cluster > map.html\n"
                          "  weft map --cluster --serve 127.0.0.1:8001",
                          [this] { return RunMap(map_); });
  command->group(kLooking);
  AddInput(command, map_.input);
  Choice(command->add_option("-o,--output", map_.output, "Output format: html or svg"), "FORMAT",
         {"html", "svg"})
      ->capture_default_str()
      ->group(kOutput);
  command->add_option("--fabric", map_.fabric, "The Fabric to draw as SVG (default: the first)")
      ->option_text("NAME")
      ->group(kOutput);
  command
      ->add_option(
          "--serve", map_.serve,
          "Serve a page at this loopback address that shows the live cluster, until interrupted")
      ->option_text("ADDRESS:PORT")
      ->group(kOutput);
}

}  // namespace weft::cli
