#pragma once

#include <map>
#include <string>
#include <vector>

namespace weft::cli {

// One command and the words that may follow it, for shell completion.
struct CommandWords {
  std::string path;                // "", "plan", "fabric generate"
  std::vector<std::string> words;  // sub-commands, --options, and values of arguments
  // The values that may follow an option such as "--output" or "-o"; an empty list means a file.
  std::map<std::string, std::vector<std::string>> values;
};

// The candidates for the last typed word, in the protocol of kubectl's plug-ins and of Cobra: one
// per line, then ":0". If there is only ":0", the shell offers files. "--option=value" may be one
// word, or three if bash has split it.
std::string Candidates(const std::vector<std::string>& typed,
                       const std::vector<CommandWords>& commands);

// A script for bash, zsh, fish or kubectl that asks `weft __complete`; "" for another shell. It
// contains no words itself and therefore never becomes outdated.
std::string CompletionScript(const std::string& shell);

}  // namespace weft::cli
