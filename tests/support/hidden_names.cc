#include "tests/support/hidden_names.h"

#include <functional>
#include <map>
#include <regex>
#include <sstream>
#include <utility>

namespace weft::testing {
namespace {

using Name = std::pair<std::string, std::string>;  // of a folder, and in it

std::string FolderOf(const SourceFile& file) { return file.path.substr(0, file.path.rfind('/')); }

// The name that a line declares outside of classes and functions; "" if none.
std::string DeclaredName(const std::string& line) {
  static const std::regex declaration(
      R"((?:class (\w+)|struct (\w+)|[A-Za-z_][\w:<>,*& ]*?[ *&](\w+)(?:\(|\[| =|;)).*)");
  if (line.starts_with("namespace") || line.starts_with("return")) return "";
  std::smatch match;
  if (!std::regex_match(line, match, declaration)) return "";
  return match[1].str() + match[2].str() + match[3].str();
}

using Visit = std::function<void(std::size_t line, const std::string& name)>;

// Every name of the file, or those of its unnamed namespace.
void EachName(const SourceFile& file, bool only_unnamed, const Visit& visit) {
  std::istringstream lines(file.text);
  bool unnamed = false;
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line == "namespace {") unnamed = true;
    if (line == "}  // namespace") unnamed = false;
    if (only_unnamed && !unnamed) continue;
    if (const std::string name = DeclaredName(line); !name.empty()) visit(number, name);
  }
}

}  // namespace

Violations CheckHiddenNames(const std::vector<SourceFile>& files) {
  std::map<Name, std::string> of_headers;  // with the header's path
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".h")) continue;
    EachName(file, false, [&](std::size_t, const std::string& name) {
      of_headers.emplace(Name(FolderOf(file), name), file.path);
    });
  }
  Violations found;
  for (const SourceFile& file : files) {
    if (file.path.ends_with(".h")) continue;
    EachName(file, true, [&](std::size_t line, const std::string& name) {
      const auto hidden = of_headers.find({FolderOf(file), name});
      if (hidden == of_headers.end()) return;
      found.push_back(file.path + ":" + std::to_string(line) + ": " + name + " hides that of " +
                      hidden->second);
    });
  }
  return found;
}

}  // namespace weft::testing
