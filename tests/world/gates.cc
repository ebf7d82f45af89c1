#include "tests/world/gates.h"

#include "operator/base/random.h"

namespace weft::world {
namespace {

// So that other parts of the day do not depend on it.
constexpr std::uint64_t kOwnSeed = 0x706f64'67726f75'70U;

std::uint64_t Chosen(std::uint64_t seed) {
  SplitMix64 chance(seed ^ kOwnSeed);
  switch (chance.Below(4)) {
    case 0:
      return 2;
    case 1:
      return 3 + chance.Below(3);
    default:
      return 1;
  }
}

}  // namespace

bool Gates::AllOn() const {
  return served && server == ApiServer::GroupGate::kOn && scheduler && controllers;
}

Gates GatesOf(std::uint64_t choice, std::uint64_t seed) {
  if (choice == 0) choice = Chosen(seed);
  Gates gates;
  gates.served = choice != 2;
  if (choice == 3) gates.server = ApiServer::GroupGate::kOff;
  gates.scheduler = choice != 4;
  gates.controllers = choice != 5;
  return gates;
}

std::string Show(const Gates& gates) {
  if (!gates.served) return "no PodGroups";
  if (gates.AllOn()) return "all servers know PodGroups";
  std::string lacking;
  const auto add = [&](bool lacks, const char* server) {
    if (lacks) lacking += (lacking.empty() ? "" : ", ") + std::string(server);
  };
  add(gates.server != ApiServer::GroupGate::kOn, "kube-apiserver");
  add(!gates.scheduler, "kube-scheduler");
  add(!gates.controllers, "kube-controller-manager");
  return "PodGroups without " + lacking;
}

}  // namespace weft::world
