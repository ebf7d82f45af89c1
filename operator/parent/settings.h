#pragma once

#include <string>
#include <vector>

#include "operator/inplace/member.h"

namespace weft::parent {

// All that a parent is told on its command line and in its environment.
struct Settings {
  inplace::MemberOptions member;   // without `instance`
  std::vector<std::string> peers;  // names of the workers' hosts in the order of their ranks, or
  std::string peers_file;          // a file with one a line, which is read at each look-up
  std::string bind;                // the address to listen on; empty: all
  int port = 0;                    // where trainers meet: this one and the 15 after it
  int control_port = 0;            // where parents listen
  std::string token;
  std::string checkpoint_file;
  std::string termination_message = "/dev/termination-log";
  std::vector<std::string> command;
};

// The host of worker 0: the first of `peers`, or of the file as it is now; empty if the file
// cannot be read.
std::string LeaderOf(const Settings& settings);

// The names in a file of peers: the first word of each line; lines that are empty or begin with
// '#' are left out.
std::vector<std::string> ReadPeers(const std::string& path);

}  // namespace weft::parent
