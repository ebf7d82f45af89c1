#include "operator/program/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>

namespace weft::program {

Terminal StandardOutput() {
  Terminal terminal;
  if (isatty(STDOUT_FILENO) == 0) return terminal;
  const char* no_colour = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  const bool dumb = term != nullptr && std::string(term) == "dumb";
  terminal.colour = (no_colour == nullptr || *no_colour == '\0') && !dumb;
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
    terminal.rows = size.ws_row;
  }
  return terminal;
}

void Progress(const std::string& line) {
  if (isatty(STDERR_FILENO) != 0) std::cerr << line << std::endl;
}

}  // namespace weft::program
