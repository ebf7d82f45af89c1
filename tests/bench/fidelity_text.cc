#include "tests/bench/fidelity_text.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace weft::fidelity {
namespace {

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else if (c != '\r')
      cells.back() += c;
  }
  return cells;
}

}  // namespace

std::vector<std::vector<std::string>> ReadCsv(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::vector<std::vector<std::string>> rows;
  if (!std::getline(file, line)) {
    std::fprintf(stderr, "fidelity: cannot read %s\n", path.c_str());
    std::exit(1);
  }
  while (std::getline(file, line)) rows.push_back(Split(line));
  return rows;
}

std::int64_t Whole(const std::string& text) { return std::atoll(text.c_str()); }

}  // namespace weft::fidelity
