#include "operator/parent/settings.h"

#include <fstream>
#include <sstream>

namespace weft::parent {

std::vector<std::string> ReadPeers(const std::string& path) {
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (words >> name && !name.starts_with('#')) names.push_back(name);
  }
  return names;
}

std::string LeaderOf(const Settings& settings) {
  const auto peers = settings.peers.empty() ? ReadPeers(settings.peers_file) : settings.peers;
  return peers.empty() ? "" : peers.front();
}

}  // namespace weft::parent
