#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::kube {

// A certificate, key or token: its bytes, or the file that has them. Files are read again for every
// connection, so that rotated files are used.
struct Source {
  std::string data;  // decoded
  std::string file;

  bool empty() const { return data.empty() && file.empty(); }
  friend bool operator==(const Source&, const Source&) = default;
};

// A program that hands out credentials (client.authentication.k8s.io).
struct ExecPlugin {
  std::string api_version, command;
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;
  std::string install_hint;

  friend bool operator==(const ExecPlugin&, const ExecPlugin&) = default;
};

// An API server and its credentials.
struct Config {
  std::string server;  // "https://10.0.0.1:6443"
  std::string proxy;   // "": none
  Source authority;    // PEM; empty: the system's authorities
  bool insecure = false;
  std::string space;  // the context's namespace; "" if unset

  Source certificate, key;  // PEM
  Source token;
  ExecPlugin exec;  // used if its command is not empty
  std::string impersonate;
  std::vector<std::string> impersonate_groups;

  friend bool operator==(const Config&, const Config&) = default;
};

}  // namespace weft::kube
