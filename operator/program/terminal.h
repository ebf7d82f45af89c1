#pragma once

#include <string>

namespace weft::program {

// How to print: in colour only to a terminal, and only if NO_COLOR is unset or empty
// (no-color.org).
struct Terminal {
  bool colour = false;
  int columns = 100;  // of the terminal; 100 for a pipe
  int rows = 0;       // of the terminal; 0 for a pipe
};
Terminal StandardOutput();

// Shows the progress of long work on standard error, if that is a terminal.
void Progress(const std::string& line);

}  // namespace weft::program
