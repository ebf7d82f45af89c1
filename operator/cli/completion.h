#pragma once

#include <string>
#include <vector>

namespace weft::cli {

// One command and what may follow it, for shell completion.
struct CommandWords {
  std::string path;                // "", "plan", "fabric generate"
  std::vector<std::string> words;  // sub-commands and --options
};

// A completion script for bash, zsh or fish; "" for another shell.
std::string CompletionScript(const std::string& shell, const std::vector<CommandWords>& commands);

}  // namespace weft::cli
