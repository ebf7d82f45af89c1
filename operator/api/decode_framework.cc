#include "operator/api/decode_framework.h"

#include <array>
#include <string_view>
#include <vector>

#include "operator/api/names.h"

namespace weft::api {
namespace {

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

void ReadPortOnly(const Field& member, Framework& framework) {
  member.RefuseUnknown({"port"});
  framework.port = ReadPort(member["port"], framework.port);
}

void ReadTorch(const Field& member, Framework& framework) {
  member.RefuseUnknown({"rendezvous", "port"});
  framework.rendezvous = ReadEnum<Rendezvous>(member["rendezvous"], kRendezvousNames);
  framework.port = ReadPort(member["port"], framework.port);
}

void ReadMpi(const Field& member, Framework& framework) {
  member.RefuseUnknown({"implementation", "sshPort", "sshUser"});
  framework.implementation = ReadEnum<MpiImplementation>(member["implementation"], kMpiNames);
  framework.ssh_port = ReadPort(member["sshPort"], framework.ssh_port);
  framework.ssh_user = ReadUser(member["sshUser"]);
}

// A row of WEFT_FRAMEWORKS, in the order of FrameworkType.
struct Row {
  std::string_view member;
  std::uint16_t port;
  void (*read)(const Field& member, Framework& framework);
};
#define WEFT_FRAMEWORK_ROW(name, member, port, read) {member, port, read},
constexpr auto kRows = std::to_array<Row>({WEFT_FRAMEWORKS(WEFT_FRAMEWORK_ROW)});
#undef WEFT_FRAMEWORK_ROW

}  // namespace

Framework DecodeFramework(const Field& field) {
  Framework framework;
  if (!field.present()) return framework;
  std::vector<std::string_view> known = {"type"};
  for (const Row& row : kRows) {
    if (!row.member.empty()) known.push_back(row.member);
  }
  field.RefuseUnknown(known);
  framework.type = ReadEnum(field["type"].Require(), kFrameworkNames, FrameworkType::kCustom);
  const Row& own = kRows[static_cast<std::size_t>(framework.type)];
  framework.port = own.port;
  for (const Row& row : kRows) {
    if (row.member.empty()) continue;
    const Field member = field[row.member];
    if (!member.present()) continue;
    if (&row == &own) {
      row.read(member, framework);
    } else {
      member.Fail("is not for type " + std::string(NameOf(kFrameworkNames, framework.type)));
    }
  }
  return framework;
}

}  // namespace weft::api
