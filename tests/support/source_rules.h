#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::testing {

// The rules that hold the tree to its architecture, as functions of text: layering_test.cc reads
// the files. A violation is one sentence, "PATH:LINE: what is wrong".
using Violations = std::vector<std::string>;

struct SourceFile {
  std::string path;  // from the repository's root: "operator/fabric/fabric.h"
  std::string text;
};

// One line weft_module(NAME USES module... LINKS library...) of operator/CMakeLists.txt.
struct Module {
  std::string name;
  std::vector<std::string> uses;
};
std::vector<Module> ReadModules(std::string_view cmake);

// Modules that have no thread, socket, file, clock, environment or log, and the shell around them.
bool IsPure(std::string_view module);
bool IsShell(std::string_view module);

// Each module uses only modules listed before it, is known as pure or shell, and a pure one uses
// only pure ones.
Violations CheckModules(const std::vector<Module>& modules);

// Includes in quotes start at the root, and only with modules on the module's own line. Mains
// (operator/*.cc) may include any. Headers include no header that takes seconds to compile.
Violations CheckIncludes(const SourceFile& file, const std::vector<Module>& modules);

// What a rule passes over, and why.
struct Exception {
  std::string what;
  std::string reason;
};

// Files of one folder and stem, "operator/plan/plan" for plan.h and plan.cc, are one unit. No units
// include each other in a circle, except `known` circles: at most two, each with its reason and the
// names of its units in order, "operator/a/x, operator/a/y". `files`: all of operator/.
Violations CheckCircles(const std::vector<SourceFile>& files, const std::vector<Exception>& known);

// A source in a folder of operator/ has a header of its own stem, except `known` ones, each with
// its reason; '*' in a name stands for any characters but '/'. `files`: all of operator/.
Violations CheckOwnHeaders(const std::vector<SourceFile>& files,
                           const std::vector<Exception>& known);

// No file names a value of the enum (`type`::k...), except `known` ones, each with its reason: what
// is special about a value then stands in its row or in a file of its own, and not in a switch.
Violations CheckEnumerators(const std::vector<SourceFile>& files, std::string_view type,
                            const std::vector<Exception>& known);

// The namespace is the folder: a file of operator/fabric declares names in weft::fabric and nowhere
// else. Exceptions: base, whose names all modules use, declares them in weft; mains have no names.
Violations CheckNamespace(const SourceFile& file);

// No banned header or call in a pure module; says nothing about other files.
Violations CheckPure(const SourceFile& file);

// No file has a clock, sleep or thread but those of operator/run, so that a world in one thread can
// play all of it; except `known` files, each with its reason. `files`: all of operator/.
Violations CheckDoor(const std::vector<SourceFile>& files, const std::vector<Exception>& known);

// Lines per file and per function, and #pragma once.
Violations CheckSizes(const SourceFile& file);

// The modules that decide or keep state hold at least five checks (WEFT_CHECK, WEFT_DCHECK) in a
// thousand lines. `files`: all of operator/.
Violations CheckChecks(const std::vector<SourceFile>& files);

// Names at the top of the repository: nothing but what belongs there, and all that must be there.
// Entries that start with a dot and build folders are left out of account.
Violations CheckTopLevel(const std::vector<std::string>& names);

}  // namespace weft::testing
