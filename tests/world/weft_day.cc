// Plays days of a cluster under weft-operator in virtual time, until a law is broken. See
// operator/docs/reliability.md.

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operator/base/seeded_bug.h"
#include "tests/world/commit.h"
#include "tests/world/world.h"

// jemalloc's, where the program is linked with it.
extern "C" int mallctl(const char* name, void* old, std::size_t* old_size, void* value,
                       std::size_t size) __attribute__((weak));

namespace weft::world {
namespace {

constexpr const char* kHelp =
    "Plays days of a cluster under weft-operator in virtual time, until a law is broken.\n"
    "\n"
    "Usage: weft-day [OPTIONS]\n"
    "\n"
    "      --seed N        the first day (default 1)\n"
    "      --count N       how many days, one seed after the other (default 1)\n"
    "      --nodes N       of 8 GPUs (default 64)\n"
    "      --jobs N        that come on a day (default 200)\n"
    "      --large N       workers of one more job, four to a node (default 0: none)\n"
    "      --faults N      that come on a day at most, and at least half of them (default 100)\n"
    "      --kueue N       1: jobs in queues of Kueue, and Jobs of other controllers (default 0); "
    "from\n"
    "                      16 nodes on\n"
    "      --whole N       1: some jobs need all nodes (default 0)\n"
    "      --gates N       which servers know PodGroups: 0 by the seed, 1 all, 2 none, all but 3 "
    "the "
    "API\n"
    "                      server, 4 kube-scheduler, 5 kube-controller-manager (default 0)\n"
    "      --operators N   replicas of weft-operator (default: 2, on a tenth of the days 3)\n"
    "      --hours N       of a day (default 24); an evening without faults follows\n"
    "      --until STEP    stop at the change of an object that comes after this many\n"
    "      --longest N     seconds for a day; 0: no limit (default 600 for each 64 nodes)\n"
    "      --without-faults LIST --without-jobs LIST   that do not come, such as 0-4,7 "
    "(shrink.py)\n"
    "      --timeline FILE   draws the day as a page: jobs, nodes, faults and writes\n"
    "      --bug N         plant this bug (base/seeded_bug.h); needs a build with "
    "WEFT_SEEDED_BUGS\n"
    "      --show NAME     print objects whose namespace/name begins so, at each change\n"
    "  -v, --verbose       print every change and the operators' logs\n"
    "      --changes       print every change\n"
    "  -h, --help          print this help\n"
    "\n"
    "Exit codes: 0 no law was broken, 1 one was, 2 bad usage. A day that crashes or takes too\n"
    "long tells the same as one that breaks a law; then the program dies of the signal.\n";

// A queue has the GPUs of half of the nodes, and a Job up to eight pods, each on a node of its own.
constexpr std::uint64_t kLeastNodesOfQueues = 16;

struct Flags {
  World::Options world;
  std::uint64_t count = 1;
  std::string program;   // as it was started
  std::string repeated;  // the options that decide a day, but for its seed
  bool changes = false;
  std::string timeline;                  // file of the page; "": none
  std::optional<std::uint64_t> longest;  // seconds of true time for a day; 0: no limit
};

// "0-4,7". Returns false for anything else.
bool ReadList(const std::string& text, std::set<std::size_t>& all) {
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t used = 0;
    unsigned long long first = 0, last = 0;
    const std::string_view rest = std::string_view(text).substr(at);
    int taken = 0;
    if (std::sscanf(std::string(rest).c_str(), "%llu-%llu%n", &first, &last, &taken) == 2) {
      used = static_cast<std::size_t>(taken);
    } else if (std::sscanf(std::string(rest).c_str(), "%llu%n", &first, &taken) == 1) {
      used = static_cast<std::size_t>(taken);
      last = first;
    } else {
      return false;
    }
    constexpr unsigned long long kMost = 1'000'000;
    if (first > last || last > kMost) return false;
    for (auto i = first; i <= last; ++i) all.insert(i);
    at += used;
    if (at < text.size() && text[at++] != ',') return false;
  }
  return true;
}

// Whether a day can be like this; else the reason is printed.
bool IsPossible(const World::Options& world) {
  if (world.gates > kMostGates) {
    std::fprintf(stderr, "weft-day: --gates: at most %d\n", static_cast<int>(kMostGates));
    return false;
  }
  if (world.kueue && world.nodes < kLeastNodesOfQueues) {
    std::fprintf(stderr,
                 "weft-day: --kueue 1: at least %d nodes, so that no job exceeds its quota\n",
                 static_cast<int>(kLeastNodesOfQueues));
    return false;
  }
  return true;
}

bool Read(int argc, char** argv, Flags& flags) {
  std::uint64_t hours = 24, bug = 0;
  const std::map<std::string, std::function<void(std::uint64_t)>> kNumbers = {
      {"--seed", [&](auto n) { flags.world.seed = n; }},
      {"--count", [&](auto n) { flags.count = n; }},
      {"--nodes", [&](auto n) { flags.world.nodes = n; }},
      {"--jobs", [&](auto n) { flags.world.jobs = n; }},
      {"--faults", [&](auto n) { flags.world.faults = n; }},
      {"--large", [&](auto n) { flags.world.large = n; }},
      {"--kueue", [&](auto n) { flags.world.kueue = n != 0; }},
      {"--whole", [&](auto n) { flags.world.whole = n != 0; }},
      {"--gates", [&](auto n) { flags.world.gates = n; }},
      {"--operators", [&](auto n) { flags.world.operators = n; }},
      {"--hours", [&](auto n) { hours = n; }},
      {"--until", [&](auto n) { flags.world.until_step = n; }},
      {"--longest", [&](auto n) { flags.longest = n; }},
      {"--bug", [&](auto n) { bug = n; }},
  };
  const std::map<std::string, std::set<std::size_t>*> kLists = {
      {"--without-faults", &flags.world.without_faults},
      {"--without-jobs", &flags.world.without_jobs}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "-v" || name == "--verbose") {
      flags.world.verbose = flags.changes = true;
    } else if (name == "--show" && i + 1 < argc) {
      flags.world.show = argv[++i];
      flags.changes = true;
    } else if (const auto list = kLists.find(name); list != kLists.end() && i + 1 < argc) {
      if (!ReadList(argv[++i], *list->second)) {
        std::fprintf(stderr, "weft-day: %s: not a list: %s\n", name.c_str(), argv[i]);
        return false;
      }
    } else if (name == "--timeline" && i + 1 < argc) {
      flags.timeline = argv[++i];
    } else if (name == "--changes") {
      flags.changes = true;
    } else if (const auto number = kNumbers.find(name); number != kNumbers.end() && i + 1 < argc) {
      char* end = nullptr;
      const std::uint64_t value = std::strtoull(argv[++i], &end, 0);
      if (*end != 0 || end == argv[i]) {
        std::fprintf(stderr, "weft-day: %s: not a number: %s\n", name.c_str(), argv[i]);
        return false;
      }
      number->second(value);
    } else {
      std::fprintf(stderr, "weft-day: unknown option or missing value: %s\n", name.c_str());
      return false;
    }
  }
  if (!IsPossible(flags.world)) return false;
  flags.world.day = std::chrono::seconds(hours * 3'600);
#ifdef WEFT_SEEDED_BUGS
  planted_bug = static_cast<Bug>(bug);
#else
  if (bug != 0) {
    std::fprintf(stderr, "weft-day: this build has no bugs to plant (WEFT_SEEDED_BUGS)\n");
    return false;
  }
#endif
  return true;
}

// What --seed, --count, --until and the options that only print leave: each with its value.
std::string RepeatedOf(int argc, char** argv) {
  static const std::set<std::string_view> kLeftOut = {"--seed", "--count",    "--until",
                                                      "--show", "--timeline", "--longest"};
  std::string all;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "-v" || name == "--verbose" || name == "--changes") continue;
    const std::string value = argv[++i];
    if (!kLeftOut.contains(name)) all += " " + std::string(name) + " " + value;
  }
  return all;
}

// The day that is played, for what is told of it: also by a handler of a signal.
struct Playing {
  unsigned long long seed = 0;
  unsigned longest_seconds = 0;  // 0: no limit
  std::string command;           // that plays it
  const World* world = nullptr;  // null: it is not made yet, or it is over
  bool prints_changes = false;
} playing;

unsigned long long StepOfDay() { return playing.world == nullptr ? 0 : playing.world->steps(); }

// Where the day breaks; each law and its words follow.
void TellWhere() { std::printf("  seed %llu breaks at step %llu:\n", playing.seed, StepOfDay()); }

void TellLaw(const char* law, const char* words) { std::printf("  %s: %s\n", law, words); }

// How to see the same again, whatever the machine, and what led to it.
void TellReplay() {
  const char* day = playing.command.c_str();
  std::printf("  commit: %s\n  replay: %s --until %llu -v\n", kCommit, day, StepOfDay());
  std::printf("  shrink: tests/world/shrink.py %s\n", day);
  std::fflush(stdout);  // a crash in the middle of a change may have torn those that follow
  if (playing.world != nullptr && !playing.prints_changes) {
    std::printf("  the last changes:\n");
    for (const std::string& line : playing.world->recent()) std::printf("    %s\n", line.c_str());
  }
  std::fflush(stdout);
}

// Of a day that crashes or does not end.
constexpr std::array kSignals = {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGALRM};
std::array<struct sigaction, kSignals.size()> usual_actions;  // a sanitizer has its own
constexpr unsigned kMostTellingSeconds = 10;

// It takes no memory: the signal may have come in the middle of malloc.
void OnSignal(int signal) {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &usual_actions[i], nullptr);
  }
  alarm(kMostTellingSeconds);
  TellWhere();
  char words[100];
  if (signal == SIGALRM) {
    std::snprintf(words, sizeof words, "the day has not ended in %u s", playing.longest_seconds);
  } else {
    std::snprintf(words, sizeof words, "the program died: %s", sigdescr_np(signal));
  }
  TellLaw(signal == SIGALRM ? "I6" : "I18", words);
  TellReplay();
  std::raise(signal);
}

void HandleSignals() {
  // A fiber that has used up its stack leaves none for the handler.
  static std::array<char, std::size_t{256} << 10> room;
  stack_t stack = {};
  stack.ss_sp = room.data();
  stack.ss_size = room.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], &action, &usual_actions[i]);
  }
}

void Draw(const World& world, const Timeline& timeline, std::uint64_t seed,
          const std::string& file) {
  std::vector<std::string> broken;
  for (const Violation& one : world.broken()) broken.push_back(one.law + ": " + one.text);
  std::ofstream page(file);
  page << timeline.Page("Seed " + std::to_string(seed), broken, world.now());
  if (!page.flush()) {
    std::fprintf(stderr, "weft-day: --timeline: cannot write %s\n", file.c_str());
    std::exit(2);
  }
}

// Enough for a day that takes fifty times as long as on two idle cores.
unsigned LongestSeconds(const Flags& flags) {
  constexpr std::uint64_t kSeconds = 600, kNodes = 64, kMost = 1'000'000;
  const std::uint64_t usual = kSeconds * std::max<std::uint64_t>(1, flags.world.nodes / kNodes);
  return static_cast<unsigned>(std::min(flags.longest.value_or(usual), kMost));
}

// Bytes of the process that are allocated and not freed.
std::size_t UsedBytes() {
  if (mallctl != nullptr) {
    std::uint64_t epoch = 1;  // refreshes the figures
    std::size_t used = 0, size = sizeof used;
    mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
    if (mallctl("stats.allocated", &used, &size, nullptr, 0) == 0) return used;
  }
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// A day that is over leaves nothing but what is read once, such as the definitions.
constexpr std::size_t kMostLeftBytes = std::size_t{16} << 20;

bool PlayDay(const Flags& flags);

// Whether no law was broken.
bool PlayOne(const Flags& flags) {
  playing.seed = flags.world.seed;
  playing.command = flags.program + " --seed " + std::to_string(playing.seed) + flags.repeated;
  const std::size_t before = UsedBytes();
  if (!PlayDay(flags)) return false;
  const std::size_t after = UsedBytes();
  if (after <= before + kMostLeftBytes) return true;
  TellWhere();
  const std::size_t left = (after - before) >> 20;
  TellLaw("I19", ("the day is over and " + std::to_string(left) + " MiB are still in use").c_str());
  TellReplay();
  return false;
}

bool PlayDay(const Flags& flags) {
  World::Options options = flags.world;
  const std::string& page = flags.timeline;
  const auto begun = std::chrono::steady_clock::now();
  Timeline timeline;
  if (!page.empty()) options.timeline = &timeline;
  World world(options);
  playing.world = &world;
  alarm(playing.longest_seconds);
  world.Play();
  alarm(0);
  if (!page.empty()) Draw(world, timeline, options.seed, page);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf(
      "seed %llu: %zu faults, %llu changes, %zu partly bound gangs, %zu in PodGroups (%s), digest "
      "%016llx, %.2f s\n",
      static_cast<unsigned long long>(options.seed), world.faults_seen(),
      static_cast<unsigned long long>(world.steps()), world.laws().windows(),
      world.laws().grouped(), Show(world.gates()).c_str(),
      static_cast<unsigned long long>(world.digest()), took.count());
  std::fflush(stdout);
  if (!world.broken().empty()) {
    TellWhere();
    for (const Violation& one : world.broken()) TellLaw(one.law.c_str(), one.text.c_str());
    TellReplay();
  }
  playing.world = nullptr;
  return world.broken().empty();
}

int Main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "-h") == 0 || std::strcmp(argv[i], "--help") == 0) {
      std::fputs(kHelp, stdout);
      return 0;
    }
  }
  Flags flags;
  if (!Read(argc, argv, flags)) return 2;
  flags.program = argv[0];
  flags.repeated = RepeatedOf(argc, argv);
  if (flags.changes) {
    flags.world.log = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  }
  playing.prints_changes = flags.changes;
  playing.longest_seconds = LongestSeconds(flags);
  HandleSignals();
  bool well = true;
  for (std::uint64_t i = 0; i < flags.count; ++i) {
    well = PlayOne(flags) && well;
    ++flags.world.seed;
  }
  return well ? 0 : 1;
}

}  // namespace
}  // namespace weft::world

int main(int argc, char** argv) { return weft::world::Main(argc, argv); }
