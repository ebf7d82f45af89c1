#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft::cli {

// One command and what may follow it, for shell completion.
struct CommandWords {
  std::string path;                // "", "plan", "fabric generate"
  std::vector<std::string> words;  // sub-commands, --options, and words that an argument may be
  // What may follow an option that takes a value, "--output" or "-o"; nothing known: a file.
  std::map<std::string, std::vector<std::string>> values;
};

// What may stand in place of the last of the words typed, as kubectl asks its plug-ins' completion
// (and Cobra's programs are asked): one a line, then ":0". Nothing but ":0" lets the shell offer
// files. "--option=value" may come as one word, or as three, which is how bash cuts it.
std::string Candidates(const std::vector<std::string>& typed,
                       const std::vector<CommandWords>& commands);

// A script for bash, zsh, fish or kubectl that asks `weft __complete`; "" for another. It knows no
// words itself, and never grows stale.
std::string CompletionScript(const std::string& shell);

}  // namespace weft::cli
