#include "operator/api/decode_framework.h"

#include <array>
#include <string_view>

#include "operator/api/names.h"

namespace weft::api {
namespace {

// The member of spec.framework that belongs to each type; Custom has none.
constexpr std::array<std::string_view, 5> kMembers = {"torch", "deepSpeed", "mpi", "jax",
                                                      "tensorFlow"};

std::uint16_t DefaultPort(FrameworkType type) {
  if (type == FrameworkType::kJAX) return 1234;
  if (type == FrameworkType::kTensorFlow) return 2222;
  return Framework{}.port;
}

std::uint16_t ReadPort(const Field& field, std::uint16_t fallback) {
  return static_cast<std::uint16_t>(field.Int(kPort, fallback));
}

// A user name that sshd and useradd accept: a letter or underscore, then also digits and hyphens.
std::string ReadUser(const Field& field) {
  std::string user = field.Str();
  constexpr std::string_view kFirst = "abcdefghijklmnopqrstuvwxyz_";
  constexpr std::string_view kRest = "abcdefghijklmnopqrstuvwxyz_0123456789-";
  const bool good = !user.empty() && user.size() <= 32 &&
                    kFirst.find(user.front()) != kFirst.npos &&
                    user.find_first_not_of(kRest) == user.npos;
  if (field.present() && !good) {
    field.Fail(
        "must be a user name: at most 32 of a-z, 0-9, '_' and '-', starting with a letter or '_'");
  }
  return user;
}

void DecodeMember(const Field& member, Framework& framework) {
  if (framework.type == FrameworkType::kMPI) {
    member.RefuseUnknown({"implementation", "sshPort", "sshUser"});
    framework.implementation = ReadEnum<MpiImplementation>(member["implementation"], kMpiNames);
    framework.ssh_port = ReadPort(member["sshPort"], framework.ssh_port);
    framework.ssh_user = ReadUser(member["sshUser"]);
    return;
  }
  if (framework.type == FrameworkType::kTorch) {
    member.RefuseUnknown({"rendezvous", "port"});
    framework.rendezvous = ReadEnum<Rendezvous>(member["rendezvous"], kRendezvousNames);
  } else {
    member.RefuseUnknown({"port"});
  }
  framework.port = ReadPort(member["port"], framework.port);
}

}  // namespace

Framework DecodeFramework(const Field& field) {
  Framework framework;
  if (!field.present()) return framework;
  field.RefuseUnknown({"type", "torch", "deepSpeed", "mpi", "jax", "tensorFlow"});
  framework.type = ReadEnum(field["type"].Require(), kFrameworkNames, FrameworkType::kCustom);
  framework.port = DefaultPort(framework.type);
  for (std::size_t i = 0; i < kMembers.size(); ++i) {
    const Field member = field[kMembers[i]];
    if (!member.present()) continue;
    if (static_cast<std::size_t>(framework.type) == i) {
      DecodeMember(member, framework);
    } else {
      member.Fail("is not for type " + std::string(NameOf(kFrameworkNames, framework.type)));
    }
  }
  return framework;
}

}  // namespace weft::api
