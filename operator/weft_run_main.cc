#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "operator/parent/command_line.h"
#include "operator/parent/parent.h"

int main(int argc, char** argv) {
  auto read = weft::parent::ReadCommandLine({argv + 1, argv + argc});
  if (const auto* end = std::get_if<weft::parent::EndAtOnce>(&read)) {
    std::fputs(end->text.c_str(), end->code == 0 ? stdout : stderr);
    return end->code;
  }
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
  }
  weft::parent::Parent parent(std::get<weft::parent::Settings>(std::move(read)),
                              std::move(environment));
  return parent.Run();
}
