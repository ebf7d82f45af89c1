#include "tests/support/source_rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

#include "tests/support/cpp_scan.h"

namespace weft::testing {
namespace {

constexpr std::array<std::string_view, 23> kPure = {
    "base",      "fabric", "traffic",  "rules",  "outlook",  "objective", "bound",   "search",
    "placement", "api",    "manifest", "import", "designs",  "cluster",   "predict", "plan",
    "framework", "life",   "launch",   "report", "simulate", "render",    "inplace"};
constexpr std::array<std::string_view, 12> kShell = {"run",         "metrics", "kube",    "promql",
                                                     "watch",       "http",    "program", "cli",
                                                     "controllers", "service", "manager", "parent"};

// What a pure module must not include: a name ending in '/' or '.' stands for all that start so.
constexpr std::array<std::string_view, 22> kImpureHeaders = {
    "thread",      "mutex",     "shared_mutex", "condition_variable",
    "future",      "semaphore", "latch",        "barrier",
    "stop_token",  "fstream",   "iostream",     "filesystem",
    "unistd.h",    "sys/",      "netinet/",     "netdb.h",
    "regex",       "cpprest/",  "grpc/",        "grpcpp/",
    "prometheus/", "boost/"};
constexpr std::array<std::string_view, 7> kImpureNames = {
    "getenv", "secure_getenv", "random_device", "fopen", "gettimeofday", "clock_gettime", "rand"};

// Two seconds of compile time and more each, with one trivial use.
constexpr std::array<std::string_view, 7> kHeavyHeaders = {
    "CLI/", "cpprest/", "regex", "spdlog/", "boost/", "grpcpp/", "simdjson.h"};

constexpr std::array<std::string_view, 8> kChecked = {"search", "objective", "bound", "placement",
                                                      "plan",   "life",      "watch", "inplace"};
constexpr std::size_t kChecksPerThousand = 5;

constexpr std::size_t kSourceLines = 600, kHeaderLines = 200, kFunctionLines = 70;

template <typename Names>
bool Contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <typename Patterns>
bool MatchesHeader(const Patterns& patterns, std::string_view header) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return pattern.ends_with('/') ? header.starts_with(pattern) : header == pattern;
  });
}

std::vector<std::string_view> Lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string At(const SourceFile& file, std::size_t line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

// "fabric" of "operator/fabric/fabric.h"; empty for mains and for what is not in operator/.
std::string_view ModuleOf(std::string_view path) {
  constexpr std::string_view kFolder = "operator/";
  if (!path.starts_with(kFolder)) return {};
  path.remove_prefix(kFolder.size());
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

struct Include {
  std::size_t line;
  std::string_view header;
  bool quoted;
};

std::vector<Include> IncludesOf(std::string_view text) {
  std::vector<Include> includes;
  std::size_t number = 0;
  for (std::string_view line : Lines(text)) {
    ++number;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.starts_with('#')) continue;
    line.remove_prefix(std::min(line.find_first_not_of("# \t"), line.size()));
    if (!line.starts_with("include")) continue;
    const std::size_t open = line.find_first_of("<\"");
    if (open == std::string_view::npos) continue;
    const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
    if (close == std::string_view::npos) continue;
    includes.push_back({number, line.substr(open + 1, close - open - 1), line[open] == '"'});
  }
  return includes;
}

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

}  // namespace

bool IsPure(std::string_view module) { return Contains(kPure, module); }
bool IsShell(std::string_view module) { return Contains(kShell, module); }

std::vector<Module> ReadModules(std::string_view cmake) {
  constexpr std::string_view kCall = "weft_module(";
  std::vector<Module> modules;
  for (const std::string_view line : Lines(cmake)) {
    const std::size_t close = line.find(')');
    if (!line.starts_with(kCall) || close == std::string_view::npos) continue;
    const auto words = Words(line.substr(kCall.size(), close - kCall.size()));
    if (words.empty()) continue;
    Module module{words[0], {}};
    bool uses = false;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i] == "USES" || words[i] == "LINKS") {
        uses = words[i] == "USES";
      } else if (uses) {
        module.uses.push_back(words[i]);
      }
    }
    modules.push_back(std::move(module));
  }
  return modules;
}

Violations CheckModules(const std::vector<Module>& modules) {
  Violations found;
  std::vector<std::string> before;
  for (const Module& module : modules) {
    const std::string line = "operator/CMakeLists.txt: " + module.name;
    if (!IsPure(module.name) && !IsShell(module.name)) {
      found.push_back(line + " is neither a pure module nor one of the shell");
    }
    for (const std::string& used : module.uses) {
      if (!Contains(before, used)) {
        found.push_back(line + " uses " + used + ", which is not listed before it");
      } else if (IsPure(module.name) && !IsPure(used)) {
        found.push_back(line + " is pure and uses " + used + ", which is not");
      }
    }
    before.push_back(module.name);
  }
  return found;
}

// What wraps CLI11 for the three sources that make the command line of weft.
constexpr std::array<std::string_view, 2> kMayBeHeavy = {"operator/cli/command_line.h",
                                                         "operator/program/help.h"};

Violations CheckIncludes(const SourceFile& file, const std::vector<Module>& modules) {
  Violations found;
  const bool in_operator = file.path.starts_with("operator/");
  const std::string_view name = ModuleOf(file.path);
  const auto module =
      std::find_if(modules.begin(), modules.end(), [&](const Module& m) { return m.name == name; });
  if (!name.empty() && module == modules.end()) {
    return {At(file, 1) + "is in no module of operator/CMakeLists.txt"};
  }
  for (const Include& include : IncludesOf(file.text)) {
    const std::string at = At(file, include.line) + "includes " + std::string(include.header);
    const bool light =
        in_operator && file.path.ends_with(".h") &&
        std::find(kMayBeHeavy.begin(), kMayBeHeavy.end(), file.path) == kMayBeHeavy.end();
    if (light && MatchesHeader(kHeavyHeaders, include.header)) {
      found.push_back(at + ", which is for .cc files: it compiles slowly");
    }
    if (!in_operator || !include.quoted) continue;
    const std::string_view other = ModuleOf(include.header);
    if (!include.header.starts_with("operator/")) {
      found.push_back(at + "; quoted includes start with operator/");
    } else if (!name.empty() && other != name && !Contains(module->uses, other)) {
      found.push_back(at + "; " + std::string(name) + " does not use " + std::string(other));
    }
  }
  return found;
}

namespace {

// "operator/plan/plan" of "operator/plan/plan.cc".
std::string UnitOf(std::string_view path) { return std::string(path.substr(0, path.rfind('.'))); }

using Units = std::map<std::string, std::set<std::string>>;  // each with those that it includes

Units UnitsOf(const std::vector<SourceFile>& files) {
  Units units;
  for (const SourceFile& file : files) {
    const std::string unit = UnitOf(file.path);
    std::set<std::string>& used = units[unit];
    for (const Include& include : IncludesOf(file.text)) {
      const std::string other = UnitOf(include.header);
      if (include.quoted && other != unit) used.insert(other);
    }
  }
  return units;
}

// All units that this one includes, also by way of others.
std::set<std::string> ReachedFrom(const std::string& unit, const Units& units) {
  std::set<std::string> reached;
  std::vector<std::string> open = {unit};
  while (!open.empty()) {
    const auto at = units.find(open.back());
    open.pop_back();
    if (at == units.end()) continue;
    for (const std::string& used : at->second) {
      if (reached.insert(used).second) open.push_back(used);
    }
  }
  return reached;
}

// The sets of units that include each other, each as "operator/a/x, operator/a/y".
std::vector<std::string> CirclesIn(const Units& units) {
  std::map<std::string, std::set<std::string>> reached;
  for (const auto& [unit, used] : units) reached.emplace(unit, ReachedFrom(unit, units));
  std::vector<std::string> circles;
  std::set<std::string> told;
  for (const auto& [unit, from_unit] : reached) {
    if (!from_unit.contains(unit) || told.contains(unit)) continue;
    std::string circle;
    for (const std::string& other : from_unit) {
      const auto back = reached.find(other);
      if (back == reached.end() || !back->second.contains(unit)) continue;
      circle += (circle.empty() ? "" : ", ") + other;
      told.insert(other);
    }
    circles.push_back(circle);
  }
  return circles;
}

bool MatchesPath(std::string_view pattern, std::string_view path) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == path;
  const std::string_view front = pattern.substr(0, star), back = pattern.substr(star + 1);
  if (path.size() < front.size() + back.size()) return false;
  if (!path.starts_with(front) || !path.ends_with(back)) return false;
  path.remove_prefix(front.size());
  path.remove_suffix(back.size());
  return path.find('/') == std::string_view::npos;
}

// The entries of `found` that no exception passes over, and the exceptions that have no reason or
// pass over nothing.
Violations WithoutKnown(const std::vector<std::string>& found, const std::vector<Exception>& known,
                        const std::string& what) {
  Violations left;
  std::set<std::string> used;
  for (const std::string& one : found) {
    const auto exception = std::find_if(known.begin(), known.end(), [&](const Exception& other) {
      return MatchesPath(other.what, one);
    });
    if (exception == known.end()) {
      left.push_back(one + what);
    } else {
      used.insert(exception->what);
    }
  }
  for (const Exception& one : known) {
    if (one.reason.empty()) left.push_back(one.what + ": is an exception without a reason");
    if (!used.contains(one.what)) left.push_back(one.what + ": is an exception that nothing needs");
  }
  return left;
}

}  // namespace

Violations CheckCircles(const std::vector<SourceFile>& files, const std::vector<Exception>& known) {
  constexpr std::size_t kCircles = 2;
  Violations found =
      WithoutKnown(CirclesIn(UnitsOf(files)), known, ": include each other in a circle");
  if (known.size() > kCircles) {
    found.push_back(std::to_string(known.size()) + " circles are listed; the most is " +
                    std::to_string(kCircles));
  }
  return found;
}

Violations CheckOwnHeaders(const std::vector<SourceFile>& files,
                           const std::vector<Exception>& known) {
  std::set<std::string_view> paths;
  for (const SourceFile& file : files) paths.insert(file.path);
  std::vector<std::string> without;
  for (const SourceFile& file : files) {
    const bool source = file.path.ends_with(".cc") && !ModuleOf(file.path).empty();
    if (source && !paths.contains(UnitOf(file.path) + ".h")) without.push_back(file.path);
  }
  return WithoutKnown(without, known, ": has no header of its own name");
}

Violations CheckEnumerators(const std::vector<SourceFile>& files, std::string_view type,
                            const std::vector<Exception>& known) {
  const std::string value = std::string(type) + "::k";
  std::vector<std::string> naming;
  for (const SourceFile& file : files) {
    if (CodeOnly(file.text).find(value) != std::string::npos) naming.push_back(file.path);
  }
  return WithoutKnown(naming, known, ": names values of " + std::string(type));
}

Violations CheckNamespace(const SourceFile& file) {
  constexpr std::string_view kOpens = "namespace ";
  const std::string_view module = ModuleOf(file.path);
  if (module.empty()) return {};
  const std::string wanted = module == "base" ? "weft" : "weft::" + std::string(module);
  Violations found;
  const std::string code = CodeOnly(file.text);
  std::size_t number = 0, depth = 0;  // of braces
  for (const std::string_view line : Lines(code)) {
    ++number;
    const bool alias = line.find('=') != std::string_view::npos;
    if (depth == 0 && line.starts_with(kOpens) && !alias) {
      const auto name = Words(line.substr(kOpens.size(), line.find('{') - kOpens.size()));
      if (name != std::vector{wanted}) {
        found.push_back(At(file, number) + "declares names in " +
                        (name.empty() ? "no namespace" : name.front()) + "; its folder is " +
                        wanted);
      }
    }
    for (const char c : line) {
      if (c == '{') ++depth;
      if (c == '}' && depth > 0) --depth;
    }
  }
  return found;
}

Violations CheckPure(const SourceFile& file) {
  if (!IsPure(ModuleOf(file.path))) return {};
  Violations found;
  for (const Include& include : IncludesOf(file.text)) {
    if (MatchesHeader(kImpureHeaders, include.header) || include.header.ends_with(".pb.h")) {
      found.push_back(At(file, include.line) + "a pure module includes " +
                      std::string(include.header));
    }
  }
  const std::string code = CodeOnly(file.text);
  std::size_t number = 0;
  for (const std::string_view line : Lines(code)) {
    ++number;
    for (const std::string_view name : kImpureNames) {
      if (HasWord(line, name)) {
        found.push_back(At(file, number) + "a pure module uses " + std::string(name));
      }
    }
    if (line.find("::now(") != std::string_view::npos) {
      found.push_back(At(file, number) + "a pure module reads a clock");
    }
  }
  return found;
}

Violations CheckDoor(const std::vector<SourceFile>& files, const std::vector<Exception>& known) {
  static constexpr std::array<std::string_view, 6> kHeaders = {
      "thread", "condition_variable", "future", "semaphore", "latch", "barrier"};
  static constexpr std::array<std::string_view, 11> kNames = {
      "::now(", "std::time(",  "time(nullptr)", "clock_gettime", "gettimeofday",  "timerfd",
      "sleep",  "std::thread", "std::jthread",  "std::async",    "pthread_create"};
  std::vector<std::string> own;
  for (const SourceFile& file : files) {
    if (ModuleOf(file.path) == "run") continue;
    const std::vector<Include> includes = IncludesOf(file.text);
    const std::string code = CodeOnly(file.text);
    if (std::any_of(includes.begin(), includes.end(),
                    [](const Include& one) { return MatchesHeader(kHeaders, one.header); }) ||
        std::any_of(kNames.begin(), kNames.end(),
                    [&](std::string_view name) { return code.find(name) != code.npos; })) {
      own.push_back(file.path);
    }
  }
  return WithoutKnown(own, known,
                      ": reads a clock, sleeps or has threads; operator/run/executor.h has them");
}

Violations CheckSizes(const SourceFile& file) {
  Violations found;
  const bool header = file.path.ends_with(".h");
  const std::size_t budget = header ? kHeaderLines : kSourceLines;
  const auto lines = Lines(file.text);
  if (lines.size() > budget) {
    found.push_back(At(file, lines.size()) + "the file's budget is " + std::to_string(budget) +
                    " lines");
  }
  if (header && file.text.find("#pragma once\n") == std::string::npos) {
    found.push_back(At(file, 1) + "a header without #pragma once");
  }
  for (const FunctionSpan& function : FunctionsOf(file.text)) {
    if (function.lines > kFunctionLines) {
      found.push_back(At(file, function.first_line) + "a function of " +
                      std::to_string(function.lines) + " lines; the budget is " +
                      std::to_string(kFunctionLines));
    }
  }
  return found;
}

Violations CheckChecks(const std::vector<SourceFile>& files) {
  Violations found;
  for (const std::string_view module : kChecked) {
    std::size_t checks = 0, lines = 0;
    for (const SourceFile& file : files) {
      if (ModuleOf(file.path) != module) continue;
      const std::string code = CodeOnly(file.text);
      for (const std::string_view line : Lines(code)) {
        ++lines;
        checks += HasWord(line, "WEFT_CHECK") || HasWord(line, "WEFT_DCHECK") ? 1 : 0;
      }
    }
    if (checks * 1000 >= lines * kChecksPerThousand) continue;
    found.push_back("operator/" + std::string(module) + ": " + std::to_string(checks) +
                    " checks in " + std::to_string(lines) + " lines; the least is " +
                    std::to_string(kChecksPerThousand) + " in a thousand");
  }
  return found;
}

Violations CheckTopLevel(const std::vector<std::string>& names) {
  constexpr std::array<std::string_view, 7> kMust = {
      "CMakeLists.txt", "README.md", "LICENSE", "operator", "deploy", "crds", "tests"};
  constexpr std::array<std::string_view, 2> kMay = {"proto", "charts"};
  Violations found;
  for (const std::string_view name : kMust) {
    if (!Contains(names, name)) found.push_back(std::string(name) + ": is not there");
  }
  for (const std::string& name : names) {
    if (name.starts_with('.') || name.starts_with("build")) continue;
    if (!Contains(kMust, name) && !Contains(kMay, name)) {
      found.push_back(name + ": does not belong at the top");
    }
  }
  return found;
}

}  // namespace weft::testing
