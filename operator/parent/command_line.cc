#include "operator/parent/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "operator/inplace/child_environment.h"

namespace weft::parent {
namespace {

constexpr const char* kAbout =
    R"(Runs a trainer's command on one worker and restarts it in place, together with the trainers
of all other workers, when a worker is replaced.

  weft-run --workers 3 --rank 1 --peer job-0 --port 29500 -- torchrun train.py

Each worker's container runs it around the same command. The trainers start when the weft-run of
every worker is there. When a worker was replaced, or somebody calls POST /stop?revision=K, all
trainers are stopped, and started again once all are down: the next revision, with another
MASTER_PORT. Inside a worker of a TrainingJob no option is needed.)";

constexpr const char* kMore =
    R"(The trainer gets WEFT_REVISION, MASTER_ADDR, MASTER_PORT, PET_MASTER_ADDR, PET_MASTER_PORT,
JAX_COORDINATOR_ADDRESS, WEFT_MASTER_ADDR and WEFT_MASTER_PORT of the revision.

Exit codes: 0 when the trainer ended with 0; the trainer's own code, or 128 + its signal, when it
failed; 75 when the gang could not be restarted in place, with the reason in the termination
message; 64 for wrong arguments; 126 and 127 when the command cannot be run.)";

// Seconds as a person writes them.
struct Limits {
  double heartbeat = 5, grace = 10, limit = 60, start_limit = 600, hold = 20, contact_limit = 300;
};

inplace::Time MillisOf(double seconds) { return inplace::Time{std::llround(seconds * 1000)}; }

std::optional<int> NumberIn(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  if (*end != '\0' || number < 0 || number > inplace::kMaxWorkers) return std::nullopt;
  return static_cast<int>(number);
}

void AddOptions(CLI::App& app, Settings& settings, Limits& limits) {
  inplace::MemberOptions& member = settings.member;
  const auto add = [&app](const char* name, auto& value, const char* about, const char* variable) {
    return app.add_option(name, value, about)->envname(variable)->capture_default_str();
  };
  // The default is one that Weft gives its workers, not the value of the member.
  const auto add_given = [&add](const char* name, auto& value, const char* about,
                                const char* variable) {
    return add(name, value, about, variable)->default_str("");
  };
  const CLI::Range seconds(0.1, 86'400.0);
  add_given("--workers", member.workers,
            "Number of workers; default: WEFT_WORKERS, else that of the names of peers",
            "WEFT_RUN_WORKERS")
      ->check(CLI::Range(1, inplace::kMaxWorkers));
  add_given("--rank", member.rank, "This worker's index, from 0; default: WEFT_WORKER_INDEX",
            "WEFT_RUN_RANK")
      ->check(CLI::Range(0, inplace::kMaxWorkers - 1));
  add_given("--peer", settings.peers,
            "Host of a worker, in the order of ranks; that of worker 0 is enough; default: "
            "WEFT_MASTER_ADDR",
            "WEFT_RUN_PEERS")
      ->delimiter(',');
  add("--peers-file", settings.peers_file,
      "File with the hosts, one a line; read again when worker 0 is looked for",
      "WEFT_RUN_PEERS_FILE");
  add_given("--port", settings.port,
            "Trainers meet on this port of worker 0 or one of the 15 after it; default: "
            "WEFT_MASTER_PORT, else 29500",
            "WEFT_RUN_PORT")
      ->check(CLI::Range(1, 65'535 - inplace::kPorts));
  add("--control-port", settings.control_port, "Port of weft-run itself; 0: the one before --port",
      "WEFT_RUN_CONTROL_PORT")
      ->check(CLI::Range(0, 65'535));
  add("--bind", settings.bind, "Address to listen on; default: all", "WEFT_RUN_BIND");
  add("--revision", member.birth, "Revision to start at; greater than the gang's for a replacement",
      "WEFT_RUN_REVISION")
      ->check(CLI::Range(0, inplace::kMaxRevision));
  add("--grace", limits.grace, "Seconds from SIGTERM to SIGKILL", "WEFT_RUN_GRACE")->check(seconds);
  add("--limit", limits.limit,
      "Seconds from the first stop until the trainer runs again, else exit 75", "WEFT_RUN_LIMIT")
      ->check(seconds);
  add("--start-limit", limits.start_limit, "The same for the first start of all",
      "WEFT_RUN_START_LIMIT")
      ->check(seconds);
  add("--hold", limits.hold, "Seconds that a failed trainer waits for a greater revision",
      "WEFT_RUN_HOLD")
      ->check(seconds);
  add("--contact-limit", limits.contact_limit,
      "Seconds for which a worker may be out of contact, or worker 0", "WEFT_RUN_CONTACT_LIMIT")
      ->check(seconds);
  add("--heartbeat", limits.heartbeat,
      "Seconds between heartbeats; three missed are a lost connection", "WEFT_RUN_HEARTBEAT")
      ->check(seconds);
  add("--restarts", member.restarts, "Restart all in place when this trainer fails, so many times",
      "WEFT_RUN_RESTARTS")
      ->check(CLI::Range(0, 1'000'000));
  add("--checkpoint-file", settings.checkpoint_file,
      "File that is written with each checkpoint; its time is shown by /state",
      "WEFT_RUN_CHECKPOINT_FILE");
  add("--termination-message", settings.termination_message,
      "File for the reason of exit 75, if it is there", "WEFT_RUN_TERMINATION_MESSAGE");
}

// What the options leave open comes from what Weft tells its workers, then from each other.
std::optional<std::string> Complete(const CLI::App& app, Settings& settings) {
  inplace::MemberOptions& member = settings.member;
  const auto given = [&app](const char* name) { return app.get_option(name)->count() > 0; };
  if (settings.peers.empty() && settings.peers_file.empty()) {
    if (const char* leader = std::getenv("WEFT_MASTER_ADDR")) settings.peers = {leader};
  }
  if (!given("--workers")) {
    const std::size_t names =
        settings.peers.empty() ? ReadPeers(settings.peers_file).size() : settings.peers.size();
    member.workers = NumberIn("WEFT_WORKERS").value_or(static_cast<int>(names));
  }
  if (!given("--rank")) {
    const auto rank = NumberIn("WEFT_WORKER_INDEX");
    if (!rank && member.workers > 1) return "--rank is missing";
    member.rank = rank.value_or(0);
  }
  if (!given("--port")) settings.port = NumberIn("WEFT_MASTER_PORT").value_or(29'500);
  if (settings.control_port == 0) settings.control_port = settings.port - 1;
  if (settings.peers.empty() && settings.peers_file.empty()) {
    if (member.workers > 1) return "--peer or --peers-file is missing: where is worker 0?";
    settings.peers = {"localhost"};
  }
  member.workers = std::max(member.workers, 1);
  if (member.rank >= member.workers) {
    return "--rank " + std::to_string(member.rank) + " is not below --workers " +
           std::to_string(member.workers);
  }
  if (settings.port < 1 || settings.control_port < 1 || settings.port + inplace::kPorts > 65'536) {
    return "--port " + std::to_string(settings.port) + " leaves no room for the ports around it";
  }
  if (settings.control_port >= settings.port &&
      settings.control_port < settings.port + inplace::kPorts) {
    return "--control-port is one of the trainers' ports";
  }
  const char* token = std::getenv("WEFT_RUN_TOKEN");
  settings.token = token == nullptr ? "" : token;
  if (!inplace::IsToken(settings.token)) {
    return "WEFT_RUN_TOKEN must be printable ASCII without spaces, at most 256 characters";
  }
  return std::nullopt;
}

}  // namespace

std::variant<Settings, EndAtOnce> ReadCommandLine(const std::vector<std::string>& arguments) {
  Settings settings;
  Limits limits;
  CLI::App app{kAbout, "weft-run [OPTIONS] -- COMMAND [ARGUMENTS...]\n      "};
  app.footer(kMore);
  AddOptions(app, settings, limits);
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> own(arguments.begin(), dashes);
  if (dashes != arguments.end()) settings.command.assign(dashes + 1, arguments.end());
  std::reverse(own.begin(), own.end());  // as CLI11 wants them
  try {
    app.parse(own);
  } catch (const CLI::CallForHelp&) {
    return EndAtOnce{app.help(), 0};
  } catch (const CLI::ParseError& error) {
    return EndAtOnce{std::string("weft-run: ") + error.what() + "\n", kUsageCode};
  }
  std::optional<std::string> wrong = Complete(app, settings);
  if (!wrong && settings.command.empty()) wrong = "no command: weft-run [OPTIONS] -- COMMAND";
  if (wrong) return EndAtOnce{"weft-run: " + *wrong + "\n", kUsageCode};
  settings.member.heartbeat = MillisOf(limits.heartbeat);
  settings.member.grace = MillisOf(limits.grace);
  settings.member.limit = MillisOf(limits.limit);
  settings.member.start_limit = MillisOf(limits.start_limit);
  settings.member.hold = MillisOf(limits.hold);
  settings.member.contact_limit = MillisOf(limits.contact_limit);
  return settings;
}

}  // namespace weft::parent
