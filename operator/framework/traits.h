#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "operator/base/worker_index.h"
#include "operator/framework/gang.h"

namespace weft::framework {

using Names = std::span<const std::string_view>;

// How a framework's hostfile lists a worker.
struct HostFileForm {
  std::string behind = {};  // written after the address
  std::uint32_t times = 0;  // lines per worker; 0: no file
  bool bare_first = false;  // worker 0 has no Service name
  bool all_read = false;    // every worker's launcher reads the file; else only worker 0's
};

// Everything that is special about a framework beyond its row in api/framework.h. Each framework
// defines its own in a file of its name; a null pointer or an empty text means that it has nothing
// of the kind.
struct Traits {
  // Variables of one worker, which only Weft may set.
  Environment (*environment)(const Gang& gang, WorkerIndex worker) = nullptr;
  // Variables of every worker that the template may override.
  Environment (*defaults)(const Gang& gang) = nullptr;
  // Options of one worker in variables of the form "<option>=<value>,...": added to those that the
  // template sets there. An option that the template sets stays.
  Environment (*options)(const Gang& gang, WorkerIndex worker) = nullptr;
  // Names of variables that a template must not set: all of `environment`, and others that would
  // permute the ranks.
  Names (*reserved)(const api::Framework& framework) = nullptr;

  // Files in /etc/weft besides placement.json and the hostfile; the same for all workers.
  std::map<std::string, std::string> (*files)(const Gang& gang) = nullptr;
  HostFileForm (*host_file)(const api::TrainingJob& job) = nullptr;

  // What the template's command should be: "framework X expects <this>"; "": it may be anything.
  std::string_view expects = {};
  // The programs that start the framework's ranks. Those of other frameworks do not.
  Names launchers = {};
  // The script itself is the only process of a worker; no launcher starts it.
  bool own_processes = false;
  // What is wrong with the options of a command whose program is in `launchers`; "": nothing.
  std::string (*wrong_options)(const api::TrainingJob& job, std::string_view program,
                               std::span<const std::string> words) = nullptr;

  // If not null, the launcher runs on worker 0 only and starts the ranks of all workers by ssh:
  // each attempt has a key pair, the job is complete when worker 0 is, and `serve` changes the pod
  // spec of every other worker so that it waits for the launcher.
  void (*serve)(const api::TrainingJob& job, nlohmann::json& spec) = nullptr;
  // Why a worker that only serves may lack its command.
  std::string_view serve_not_found = {};

  // A message if the job has too many workers, with the number that it may have.
  // Precondition: the job has workers. Cost  O(workers).
  std::optional<std::string> (*too_many_workers)(const api::TrainingJob& job) = nullptr;

  bool launches_by_ssh() const { return serve != nullptr; }
  bool StartedBy(std::string_view program) const;
};

const Traits& TraitsOf(const api::Framework& framework);

// Whether the program is a launcher of any framework.
bool IsLauncher(std::string_view program);

}  // namespace weft::framework
