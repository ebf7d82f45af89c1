#include "operator/cli/completion.h"

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

std::string CompletionScript(const std::string& shell, const std::vector<CommandWords>& commands) {
  if (shell == "bash") return Bash(commands);
  if (shell == "zsh") {
    return "# zsh completion for weft; load it with: source <(weft completion zsh)\n"
           "autoload -U +X bashcompinit && bashcompinit\n" +
           Bash(commands);
  }
  if (shell == "fish") return Fish(commands);
  return "";
}

}  // namespace weft::cli
