#pragma once

#include <string>
#include <vector>

namespace weft::cli {

// One command and what may follow it, for shell completion.
struct CommandWords {
  std::string path;                // "", "plan", "fabric generate"
  std::vector<std::string> words;  // sub-commands and --options
};

// What may stand in place of the last of the words typed, as kubectl asks its plug-ins' completion:
// one a line, then ":0". Nothing but ":0" lets the shell offer files.
std::string Candidates(const std::vector<std::string>& typed,
                       const std::vector<CommandWords>& commands);

// A completion script for bash, zsh, fish, or kubectl; "" for another.
std::string CompletionScript(const std::string& shell, const std::vector<CommandWords>& commands);

}  // namespace weft::cli
