#include "operator/program/help.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "operator/base/near_word.h"
#include "operator/base/utf8.h"
#include "operator/render/table.h"
#include "operator/render/text_format.h"

namespace weft::program {
namespace {

constexpr std::size_t kLeftColumn = 30;
constexpr std::size_t kShownBytes = 120;  // most bytes of a word in a message

std::string Quoted(const std::string& word) { return "\"" + Excerpt(word, kShownBytes) + "\""; }

// An option as "-f, --filename FILE"; a positional argument by its name.
std::string NameOf(const CLI::Option* option) {
  std::string name;
  if (option->get_positional()) {
    name = option->get_option_text();
  } else {
    for (const std::string& letter : option->get_snames()) name += "-" + letter + ", ";
    if (name.empty()) name = "    ";
    for (const std::string& word : option->get_lnames()) name += "--" + word;
    if (TakesValue(*option)) {
      const std::string& value = option->get_option_text();
      name += " " + (value.empty() ? "VALUE" : value);
    }
  }
  return name;
}

std::string TextOf(const CLI::Option* option) {
  const std::string& value = option->get_default_str();
  const bool shown = TakesValue(*option) && !value.empty();
  return option->get_description() + (shown ? " (default: " + value + ")" : "");
}

// The groups of the options or commands, in the order in which they were defined.
template <typename Items>
std::vector<std::string> GroupsOf(const Items& items) {
  std::vector<std::string> groups;
  for (const auto* item : items) {
    const std::string group = item->get_group();
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups;
}

// The command that the typed words lead to.
const CLI::App& Reached(const CLI::App& app) {
  const CLI::App* at = &app;
  for (auto next = at->get_subcommands(); !next.empty(); next = at->get_subcommands()) {
    at = next.back();
  }
  return *at;
}

std::string FullName(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : FullName(*parent) + " " + app.get_name();
}

template <typename Words>
std::string DidYouMean(const std::string& typed, const Words& known) {
  const std::string_view near = NearWord(typed, known);
  return near.empty() ? "" : "; did you mean " + std::string(near) + "?";
}

std::vector<std::string> CommandsOf(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::string Listed(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
  return list;
}

std::string UnknownOption(const CLI::App& at, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : at.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  return "unknown option " + Quoted(word) + DidYouMean(word.substr(0, word.find('=')), known);
}

// The message about a word that is not a command, option or argument.
std::string Unexpected(const CLI::App& at, const std::string& word) {
  if (word.starts_with("-") && word != "-") return UnknownOption(at, word);
  const std::vector<std::string> commands = CommandsOf(at);
  if (!commands.empty()) return "unknown command " + Quoted(word) + DidYouMean(word, commands);
  const bool files = at.get_option_no_throw("--filename") != nullptr;
  return "unexpected argument " + Quoted(word) +
         (files ? "; name manifests with -f: -f " + Excerpt(word, kShownBytes) : "");
}

std::string Message(const CLI::App& at, const std::vector<std::string>& rest,
                    const CLI::ParseError& error) {
  const bool needs_command = !at.get_subcommands({}).empty();
  const bool words = needs_command || dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (words && !rest.empty()) return Unexpected(at, rest.front());
  const std::string what = error.what();
  if (needs_command) return "no command given; the commands are " + Listed(CommandsOf(at));
  const bool no_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  return no_value ? what.substr(0, what.find(':')) + " needs a value" : what;
}

std::string Short(double value) { return render::Grouped(std::llround(value)); }

// A finite number that `fits`; `what` names those in the message.
CLI::Validator NumberThat(const std::function<bool(double)>& fits, const std::string& what) {
  const auto check = [=](const std::string& text) -> std::string {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && std::isfinite(value) && fits(value)) return "";
    return Quoted(text) + " is not a number " + what;
  };
  return {check, "", ""};
}

}  // namespace

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string HelpFormatter::Line(const std::string& left, const std::string& right) const {
  std::string lead = "  " + left;
  std::string before;
  if (lead.size() + 2 > kLeftColumn) {
    before = lead + "\n";
    lead.clear();
  }
  lead.resize(kLeftColumn, ' ');
  return before + render::Wrap(lead, right, kLeftColumn, columns_);
}

std::string HelpFormatter::Commands(const CLI::App* app) const {
  const std::vector<const CLI::App*> commands = app->get_subcommands({});
  std::string text;
  for (const std::string& group : GroupsOf(commands)) {
    text += "\n" + (group == "Subcommands" ? "Commands" : group) + ":\n";
    for (const CLI::App* command : commands) {
      if (command->get_group() != group) continue;
      text += Line(command->get_name(), command->get_description());
    }
  }
  return text;
}

std::string HelpFormatter::Options(const CLI::App* app) const {
  const std::vector<const CLI::Option*> all = app->get_options();
  std::vector<const CLI::Option*> options;  // positional arguments first, --help last
  const auto take = [&](const auto& wanted) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(options), wanted);
  };
  const auto help = [&](const CLI::Option* one) {
    return one == app->get_help_ptr() || one->check_lname("version");
  };
  take([&](const CLI::Option* one) { return one->get_positional(); });
  take([&](const CLI::Option* one) { return !one->get_positional() && !help(one); });
  take(help);
  std::string text;
  for (const std::string& group : GroupsOf(options)) {
    if (group.empty()) continue;  // hidden
    text += "\n" + group + ":\n";
    for (const CLI::Option* option : options) {
      if (option->get_group() == group) text += Line(NameOf(option), TextOf(option));
    }
  }
  return text;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode) const {
  const bool commands = !app->get_subcommands({}).empty();
  std::string usage = "Usage: " + name + (commands ? " COMMAND" : "");
  for (const CLI::Option* option : app->get_options()) {
    if (!option->get_positional()) continue;
    const std::string text = option->get_option_text();
    usage += option->get_required() ? " " + text : " [" + text + "]";
  }
  const std::string footer = app->get_footer();
  return render::Wrap("", app->get_description() + ".", 0, columns_) + "\n" + usage +
         " [OPTIONS]\n" + Commands(app) + Options(app) +
         (footer.empty() ? "" : "\n" + footer + "\n");
}

CLI::Validator OneOf(std::vector<std::string> words) {
  const auto check = [words = std::move(words)](const std::string& text) -> std::string {
    if (std::find(words.begin(), words.end(), text) != words.end()) return "";
    return Quoted(text) + " is not one of " + Listed(words);
  };
  return {check, "", ""};
}

CLI::Validator WholeNumber(std::int64_t least, std::int64_t most) {
  const auto check = [=](const std::string& text) -> std::string {
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) return "";
    return Quoted(text) + " is not a whole number from " + render::Grouped(least) + " to " +
           render::Grouped(most);
  };
  return {check, "", ""};
}

CLI::Validator NumberAtLeast(double least) {
  return NumberThat([=](double value) { return value >= least; }, "of at least " + Short(least));
}

CLI::Validator NumberAbove(double limit) {
  return NumberThat([=](double value) { return value > limit; }, "above " + Short(limit));
}

CLI::Validator NumberFrom(double least, double most) {
  return NumberThat([=](double value) { return value >= least && value <= most; },
                    "from " + Short(least) + " to " + Short(most));
}

std::string UsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& at = Reached(app);
  return app.get_name() + ": " + Message(at, app.remaining(true), error) + "\nSee \"" +
         FullName(at) + " --help\".\n";
}

}  // namespace weft::program
