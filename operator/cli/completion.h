#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft::cli {

// One command and the words that may follow it, for shell completion.
struct CommandWords {
  std::string path;                // "", "plan", "fabric generate"
  std::vector<std::string> words;  // sub-commands, --options, and words that an argument may be
  // What may follow an option that takes a value, "--output" or "-o"; nothing known: a file.
  std::map<std::string, std::vector<std::string>> values;
};

// Candidates for the last of the typed words, in the protocol of kubectl's plug-ins and of Cobra:
// one per line, then ":0". With only ":0" the shell offers files. "--option=value" may come as one
// word or as three, as bash splits it.
std::string Candidates(const std::vector<std::string>& typed,
                       const std::vector<CommandWords>& commands);

// A script for bash, zsh, fish or kubectl that asks `weft __complete`; "" for another shell. It
// contains no words itself and therefore never becomes outdated.
std::string CompletionScript(const std::string& shell);

}  // namespace weft::cli
