#include "operator/cli/completion.h"

#include <algorithm>

namespace weft::cli {

namespace {

constexpr const char* kBash =
    R"sh(# bash completion for weft; load it with: source <(weft completion bash)
_weft() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    case $word in :*) ;; *) COMPREPLY+=("$word") ;; esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _weft weft kubectl-weft
)sh";

constexpr const char* kZsh = R"sh(#compdef weft kubectl-weft
# zsh completion for weft; load it with: source <(weft completion zsh)
_weft() {
  local -a candidates
  candidates=(${(f)"$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  candidates=(${candidates:#:*})
  if (( $#candidates )); then compadd -- $candidates; else _files; fi
}
compdef _weft weft kubectl-weft
)sh";

constexpr const char* kFish =
    R"sh(# fish completion for weft; load it with: weft completion fish | source
function __weft_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] __complete $words[2..-1] "$current" 2>/dev/null | string match -v ':*'
end
complete -c weft -a '(__weft_complete)'
complete -c kubectl-weft -a '(__weft_complete)'
)sh";

constexpr const char* kKubectl = R"sh(#!/bin/sh
# Completion of `kubectl weft`, asked by kubectl's own. Install it beside kubectl-weft:
#   kubectl weft completion kubectl > ~/.local/bin/kubectl_complete-weft
#   chmod +x ~/.local/bin/kubectl_complete-weft
exec kubectl-weft __complete "$@"
)sh";

// The words, without the word "=" between an option and its value.
std::vector<std::string> WithoutEquals(const std::vector<std::string>& typed) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < typed.size(); ++i) {
    const bool last = i + 1 == typed.size();
    if (typed[i] == "=") {
      if (last) words.emplace_back();  // the value is still empty
      continue;
    }
    words.push_back(typed[i]);
  }
  return words;
}

using Commands = std::vector<CommandWords>;

Commands::const_iterator Find(const Commands& commands, const std::string& path) {
  return std::find_if(commands.begin(), commands.end(),
                      [&](const CommandWords& one) { return one.path == path; });
}

}  // namespace

std::string Candidates(const std::vector<std::string>& typed, const Commands& commands) {
  std::vector<std::string> words = WithoutEquals(typed);
  std::string begun = words.empty() ? "" : words.back();
  if (!words.empty()) words.pop_back();
  auto command = Find(commands, "");
  const std::vector<std::string>* values = nullptr;  // values of the last typed option
  for (const std::string& word : words) {
    const auto option = values == nullptr ? command->values.find(word) : command->values.end();
    values = option != command->values.end() ? &option->second : nullptr;
    const auto known = Find(commands, command->path + (command->path.empty() ? "" : " ") + word);
    if (known != commands.end()) command = known;
  }
  std::string before;  // "--option=", if the last word is "--option=value"
  if (const auto equals = begun.find('='); begun.starts_with("--") && equals != begun.npos) {
    const auto option = command->values.find(begun.substr(0, equals));
    if (option != command->values.end()) values = &option->second;
    before = begun.substr(0, equals + 1);
    begun.erase(0, equals + 1);
  }
  std::string out;
  for (const std::string& word : values != nullptr ? *values : command->words) {
    const bool option = word.starts_with("-") && begun.empty();
    if (!option && word.starts_with(begun)) out.append(before).append(word).append("\n");
  }
  return out + ":0\n";
}

std::string CompletionScript(const std::string& shell) {
  const std::map<std::string, const char*> scripts = {
      {"bash", kBash}, {"zsh", kZsh}, {"fish", kFish}, {"kubectl", kKubectl}};
  const auto found = scripts.find(shell);
  return found == scripts.end() ? "" : found->second;
}

}  // namespace weft::cli
