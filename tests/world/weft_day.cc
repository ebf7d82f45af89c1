// Plays days of a cluster under weft-operator in virtual time, until a law is broken. See
// operator/docs/reliability.md.

#include <malloc.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
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
    "      --kueue N       1: jobs in queues of Kueue, and Jobs of other controllers (default 0)\n"
    "      --whole N       1: some jobs need all nodes (default 0)\n"
    "      --gates N       which servers know PodGroups: 0 by the seed, 1 all, 2 none, all but 3 "
    "the "
    "API\n"
    "                      server, 4 kube-scheduler, 5 kube-controller-manager (default 0)\n"
    "      --operators N   replicas of weft-operator (default: 2, on a tenth of the days 3)\n"
    "      --hours N       of a day (default 24); an evening without faults follows\n"
    "      --until STEP    stop at the change of an object that comes after this many\n"
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
    "Exit codes: 0 no law was broken, 1 one was, 2 bad usage.\n";

struct Flags {
  World::Options world;
  std::uint64_t count = 1;
  std::string program;   // as it was started
  std::string repeated;  // the options that decide a day, but for its seed
  bool changes = false;
  std::string timeline;  // file of the page; "": none
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
  if (flags.world.gates > kMostGates) {
    std::fprintf(stderr, "weft-day: --gates: at most %d\n", static_cast<int>(kMostGates));
    return false;
  }
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
  static const std::set<std::string_view> kLeftOut = {"--seed", "--count", "--until", "--show",
                                                      "--timeline"};
  std::string all;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "-v" || name == "--verbose" || name == "--changes") continue;
    const std::string value = argv[++i];
    if (!kLeftOut.contains(name)) all += " " + std::string(name) + " " + value;
  }
  return all;
}

// How to see the same again, whatever the machine.
void TellReplay(const Flags& flags, std::uint64_t step) {
  const std::string day =
      flags.program + " --seed " + std::to_string(flags.world.seed) + flags.repeated;
  std::printf("  commit: %s\n  replay: %s --until %llu -v\n", kCommit, day.c_str(),
              static_cast<unsigned long long>(step));
  std::printf("  shrink: tests/world/shrink.py %s\n", day.c_str());
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
  const std::size_t before = UsedBytes();
  if (!PlayDay(flags)) return false;
  const std::size_t after = UsedBytes();
  if (after <= before + kMostLeftBytes) return true;
  std::printf(
      "  seed %llu breaks at step 0:\n  I19: the day is over and %zu MiB are still in use\n",
      static_cast<unsigned long long>(flags.world.seed), (after - before) >> 20);
  TellReplay(flags, 0);
  return false;
}

bool PlayDay(const Flags& flags) {
  World::Options options = flags.world;
  const std::string& page = flags.timeline;
  const auto begun = std::chrono::steady_clock::now();
  Timeline timeline;
  if (!page.empty()) options.timeline = &timeline;
  World world(options);
  world.Play();
  if (!page.empty()) Draw(world, timeline, options.seed, page);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  std::printf(
      "seed %llu: %zu faults, %llu changes, %zu partly bound gangs, %zu in PodGroups (%s), digest "
      "%016llx, %.2f s\n",
      static_cast<unsigned long long>(options.seed), world.faults_seen(),
      static_cast<unsigned long long>(world.steps()), world.laws().windows(),
      world.laws().grouped(), Show(world.gates()).c_str(),
      static_cast<unsigned long long>(world.digest()), took.count());
  if (world.broken().empty()) return true;
  std::printf("  seed %llu breaks at step %llu:\n", static_cast<unsigned long long>(options.seed),
              static_cast<unsigned long long>(world.steps()));
  for (const Violation& one : world.broken()) {
    std::printf("  %s: %s\n", one.law.c_str(), one.text.c_str());
  }
  TellReplay(flags, world.steps());
  if (!options.log) {
    std::printf("  the last changes:\n");
    for (const std::string& line : world.recent()) std::printf("    %s\n", line.c_str());
  }
  return false;
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
