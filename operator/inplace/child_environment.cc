#include "operator/inplace/child_environment.h"

#include <algorithm>

#include "operator/base/check.h"

namespace weft::inplace {

Variables VariablesOf(std::string_view leader_host, int base_port, Revision revision) {
  WEFT_CHECK(revision >= 0);
  const std::string port = std::to_string(PortOf(base_port, revision));
  const std::string host(leader_host);
  // An IPv6 address needs brackets before a port.
  const bool bare_ipv6 = host.find(':') != std::string::npos && !host.starts_with('[');
  const std::string address = (bare_ipv6 ? "[" + host + "]" : host) + ":" + port;
  return {{"WEFT_REVISION", std::to_string(revision)},
          {"MASTER_ADDR", host},
          {"MASTER_PORT", port},
          {"PET_MASTER_ADDR", host},
          {"PET_MASTER_PORT", port},
          {"JAX_COORDINATOR_ADDRESS", address},
          {"WEFT_MASTER_ADDR", host},
          {"WEFT_MASTER_PORT", port}};
}

std::vector<std::string> WithVariables(const std::vector<std::string>& environment,
                                       const Variables& variables) {
  std::vector<std::string> result;
  for (const std::string& line : environment) {
    const std::string_view name = std::string_view(line).substr(0, line.find('='));
    const bool replaced = std::any_of(variables.begin(), variables.end(),
                                      [&](const auto& variable) { return variable.first == name; });
    if (!replaced && name != "WEFT_RUN_TOKEN") result.push_back(line);
  }
  for (const auto& [name, value] : variables) result.push_back(name + "=" + value);
  return result;
}

}  // namespace weft::inplace
