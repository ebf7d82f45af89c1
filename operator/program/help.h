#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

namespace weft::program {

// Help as kubectl prints it: what the command does, how it is called, its commands and options by
// group in two columns, examples. Each option shows the name of its value (option_text) and its
// default.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(int columns) : columns_(columns) {}
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  std::string Commands(const CLI::App* app) const;
  std::string Options(const CLI::App* app) const;
  std::string Line(const std::string& left, const std::string& right) const;

  int columns_;
};

// Whether the option takes a value; false for a flag.
bool TakesValue(const CLI::Option& option);

// Checks of an option's value; their messages quote the refused value.
CLI::Validator OneOf(std::vector<std::string> words);
CLI::Validator WholeNumber(std::int64_t least, std::int64_t most);
CLI::Validator NumberAtLeast(double least);
CLI::Validator NumberAbove(double limit);
CLI::Validator NumberFrom(double least, double most);

// The error of a command line that CLI11 refused, with the wrong word and a pointer to the help:
// "weft: unknown command "pln"; did you mean plan?\nSee "weft --help".\n".
std::string UsageError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace weft::program
