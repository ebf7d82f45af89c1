#include "operator/cli/completion.h"

#include <algorithm>

namespace weft::cli {

namespace {

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// The longest command that the words typed so far name decides what may follow; files otherwise.
std::string Bash(const std::vector<CommandWords>& commands) {
  std::string script =
      "# bash completion for weft; load it with: source <(weft completion bash)\n"
      "_weft() {\n"
      "  local word path='' words=''\n"
      "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
      "    case \"$word\" in -*) continue ;; esac\n"
      "    case \"${path:+$path }$word\" in\n";
  for (const CommandWords& command : commands) {
    if (!command.path.empty())
      script += "      '" + command.path + "') path='" + command.path + "' ;;\n";
  }
  script += "    esac\n  done\n  case \"$path\" in\n";
  for (const CommandWords& command : commands) {
    script += "    '" + command.path + "') words='" + Joined(command.words) + "' ;;\n";
  }
  script +=
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
      "}\n"
      "complete -o default -F _weft weft kubectl-weft\n";
  return script;
}

std::string Fish(const std::vector<CommandWords>& commands) {
  std::string script = "# fish completion for weft; load it with: weft completion fish | source\n";
  for (const CommandWords& command : commands) {
    std::string condition;
    if (command.path.empty()) {
      condition = "__fish_use_subcommand";
    } else {
      std::string word;
      for (char c : command.path + " ") {
        if (c != ' ') {
          word += c;
          continue;
        }
        condition += (condition.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
        word.clear();
      }
    }
    for (const std::string& word : command.words) {
      const bool option = word.rfind("--", 0) == 0;
      script += "complete -c weft -n '" + condition + "' " +
                (option ? "-l " + word.substr(2) : "-a " + word) + "\n";
    }
  }
  return script;
}

}  // namespace

std::string Candidates(const std::vector<std::string>& typed,
                       const std::vector<CommandWords>& commands) {
  const auto find = [&](const std::string& path) {
    return std::find_if(commands.begin(), commands.end(),
                        [&](const CommandWords& one) { return one.path == path; });
  };
  auto command = find("");
  for (std::size_t i = 0; i + 1 < typed.size(); ++i) {
    const std::string longer = command->path + (command->path.empty() ? "" : " ") + typed[i];
    if (const auto known = find(longer); known != commands.end()) command = known;
  }
  const std::string begun = typed.empty() ? "" : typed.back();
  std::string out;
  for (const std::string& word : command->words) {
    const bool asked = begun.empty() ? !word.starts_with("-") : word.starts_with(begun);
    if (asked) out += word + "\n";
  }
  return out + ":0\n";
}

std::string CompletionScript(const std::string& shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") return Bash(commands);
  if (shell == "zsh") {
    return "# zsh completion for weft; load it with: source <(weft completion zsh)\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           Bash(commands);
  }
  if (shell == "fish") return Fish(commands);
  if (shell == "kubectl") {
    return "#!/bin/sh\n"
           "# Completion of `kubectl weft`, asked by kubectl's own. Install it beside "
           "kubectl-weft:\n"
           "#   kubectl weft completion kubectl > ~/.local/bin/kubectl_complete-weft\n"
           "#   chmod +x ~/.local/bin/kubectl_complete-weft\n"
           "exec kubectl-weft __complete \"$@\"\n";
  }
  return "";
}

}  // namespace weft::cli
