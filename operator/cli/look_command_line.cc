#include "operator/cli/command_line.h"
#include "operator/cli/help.h"

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
  AddOutput(command, top_.output, {"table", "wide", "json", "yaml"});
  AddNamespace(command, top_.input);
  AddWatch(command, top_.input);
}

void CommandLine::AddQueue() {
  CLI::App* command = Add(
      &app_, "queue", "Show which jobs wait, in which order, and when each is expected to start",
      "  kubectl weft queue\n"
      "  weft queue --cluster -n team-a -o wide     and what would start them sooner\n"
      "  weft queue -f cluster.yaml -f jobs.yaml -o json | jq '.queue[0]'",
      [this] { return RunQueue(queue_); });
  command->group(kLooking);
  AddInput(command, queue_.input);
  AddOutput(command, queue_.output, {"table", "wide", "json", "yaml"});
  AddNamespace(command, queue_.input);
  AddWatch(command, queue_.input);
  constexpr std::int64_t kYear = 31'536'000;
  command
      ->add_option("--reserve-after", queue_.reserve_after,
                   "Seconds that a job waits until nodes are reserved for it, as the operator's "
                   "flag of this name says")
      ->option_text("SECONDS")
      ->check(WholeNumber(0, kYear))
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
