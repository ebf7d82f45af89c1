// Compares the API server in memory with a real one: both get the same random scripts, and their
// answers, stored objects, events in order and end states must be equal.
//
//   faithful [--seed N] [--seeds COUNT] [--calls M] [--verbose] [--run NAME]
//
// --run: to play a seed again on the same real server, whose namespaces then have this at their
// end. The real one is that of $KUBECONFIG, with Weft's definitions and without controllers. Exit
// code 1 after a difference.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "operator/api/json_member.h"
#include "operator/kube/http_transport.h"
#include "operator/kube/load_config.h"
#include "tests/world/api_server.h"
#include "tests/world/definitions.h"
#include "tests/world/faithful_lag.h"
#include "tests/world/faithful_script.h"
#include "tests/world/memory_transport.h"

namespace weft::world {
namespace {

struct Flags {
  std::uint64_t seed = 1, seeds = 1;
  int calls = 300;
  bool verbose = false;
  std::string run;
};

std::int64_t WallSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// The messages of all validation rules (CEL), which the API server in memory does not have.
void CollectRules(const Json& schema, std::vector<std::string>& messages) {
  if (!schema.is_structured()) return;
  if (const Json* rules = api::FindMember(schema, "x-kubernetes-validations")) {
    for (const Json& rule : *rules) messages.push_back(api::TextAt(rule, "message"));
  }
  for (const Json& member : schema) CollectRules(member, messages);
}

class Comparison {
 public:
  Comparison(std::uint64_t seed, const Flags& flags, kube::Transport& real, Lag& lag)
      : server_(OptionsOf(seed)),
        transport_(server_, "admin"),
        memory_("memory", transport_),
        real_("real", real),
        lag_(lag),
        script_(seed, flags.run),
        verbose_(flags.verbose) {
    for (const Json& definition : WeftDefinitions()) CollectRules(definition, real_.rules);
  }

  bool Run(int calls) {
    for (const Step& step : script_.Begin()) {
      if (!Same(step)) return false;
    }
    for (int i = 0; i < calls; ++i) {
      call_ = i;
      if (!Same(script_.Next())) return false;
    }
    for (const Step& step : script_.ListAll()) {
      if (!Same(step)) return false;
    }
    return SameEvents();
  }

 private:
  static ApiServer::Options OptionsOf(std::uint64_t seed) {
    ApiServer::Options options;
    options.definitions = WeftDefinitions();
    options.now_seconds = WallSeconds;
    options.seed = seed;
    options.kept_changes = 100'000;
    options.taints_new_nodes = true;
    return options;
  }

  bool Same(const Step& step) {
    if (step.watch) return SameWatch(step);
    Json ours = memory_.Send(step.request(memory_));
    const kube::Request request = step.request(real_);
    Json theirs = real_.Send(request);
    if (theirs["status"] < 300) lag_.Await(request);
    if (verbose_) std::cout << call_ << ": " << step.what << " -> " << theirs["status"] << "\n";
    const Json our_message = ours["message"], their_message = theirs["message"];
    ours.erase("message");
    theirs.erase("message");
    const bool dry = request.query.contains("dryRun");
    if (ours == theirs || (dry && theirs.contains("refused by rules"))) return true;
    std::cout << "DIFFERENCE at call " << call_ << ": " << step.what << "\n";
    Show(ours, theirs);
    if (our_message != their_message) {
      std::cout << "  memory: " << our_message << "\n  real:   " << their_message << "\n";
    }
    return false;
  }

  // A watch from a version that was seen.
  bool SameWatch(const Step& step) {
    const kube::Request request = step.request(memory_);
    if (request.query.at("resourceVersion").empty()) return true;
    const auto ours = memory_.Watch(request, 1'000'000);
    if (ours.empty()) return true;
    const auto theirs = real_.Watch(step.request(real_), ours.size());
    if (verbose_) std::cout << call_ << ": " << step.what << " -> " << ours.size() << " events\n";
    return SameList(step.what, ours, theirs);
  }

  bool SameList(const std::string& what, const std::vector<Json>& ours,
                const std::vector<Json>& theirs) {
    for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
      Json our = i < ours.size() ? ours[i] : Json(), their = i < theirs.size() ? theirs[i] : Json();
      if (our.is_object()) our.erase("version");
      if (their.is_object()) their.erase("version");
      if (our == their) continue;
      std::cout << "DIFFERENCE at call " << call_ << ": " << what << ", event " << i << "\n";
      Show(our, their);
      return false;
    }
    return true;
  }

  // All events of all resources, in the order of their versions.
  bool SameEvents() {
    std::vector<Json> ours, theirs;
    for (const Step& step : script_.WatchAll()) {
      const auto our = memory_.Watch(step.request(memory_), 1'000'000);
      if (our.empty()) continue;
      const auto their = real_.Watch(step.request(real_), our.size());
      ours.insert(ours.end(), our.begin(), our.end());
      theirs.insert(theirs.end(), their.begin(), their.end());
    }
    for (auto* events : {&ours, &theirs}) {
      std::stable_sort(events->begin(), events->end(), [](const Json& a, const Json& b) {
        return a.value("version", std::uint64_t{0}) < b.value("version", std::uint64_t{0});
      });
    }
    events_ = ours.size();
    return SameList("all events", ours, theirs);
  }

  static void Show(const Json& ours, const Json& theirs) {
    for (const Json& operation : Json::diff(ours, theirs)) {
      std::cout << "  memory to real: " << operation.dump();
      const Json::json_pointer path(operation.at("path").get<std::string>());
      if (ours.contains(path)) std::cout << " instead of " << ours[path].dump();
      std::cout << "\n";
    }
  }

  ApiServer server_;
  MemoryTransport transport_;
  Side memory_, real_;
  Lag& lag_;
  Script script_;
  const bool verbose_;
  int call_ = -1;

 public:
  std::size_t events_ = 0;
};

Flags FlagsOf(const std::vector<std::string>& arguments) {
  Flags flags;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const auto value = [&] { return i + 1 < arguments.size() ? std::stoull(arguments[++i]) : 0; };
    if (arguments[i] == "--seed") flags.seed = value();
    if (arguments[i] == "--seeds") flags.seeds = value();
    if (arguments[i] == "--calls") flags.calls = static_cast<int>(value());
    if (arguments[i] == "--verbose") flags.verbose = true;
    if (arguments[i] == "--run" && i + 1 < arguments.size()) flags.run = arguments[++i];
  }
  return flags;
}

int Main(const std::vector<std::string>& arguments) {
  const Flags flags = FlagsOf(arguments);
  kube::UseThreads(2);
  const auto config = kube::LoadConfig({});
  if (!config) {
    std::cerr << config.error().message << "\n";
    return 2;
  }
  const auto real = kube::MakeHttpTransport(*config, "faithful");
  Lag lag(*real);
  int different = 0;
  for (std::uint64_t i = 0; i < flags.seeds; ++i) {
    const std::uint64_t seed = flags.seed + i;
    Comparison comparison(seed, flags, *real, lag);
    const bool same = comparison.Run(flags.calls);
    std::cout << "seed " << seed << ": " << flags.calls << " calls, " << comparison.events_
              << " events: " << (same ? "the same" : "DIFFERENT") << std::endl;
    different += same ? 0 : 1;
  }
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weft::world

int main(int count, char** arguments) {
  return weft::world::Main({arguments + 1, arguments + count});
}
