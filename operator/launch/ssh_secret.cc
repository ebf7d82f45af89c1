#include "operator/launch/ssh_secret.h"

#include <nlohmann/json.hpp>

#include "operator/launch/attempt_files.h"

namespace weft::launch {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string SecretName(const Gang& gang) {
  constexpr std::size_t kDigits = 8;
  const std::string uid = gang.placement_uid.substr(0, kDigits);
  return FilesName(gang) + (uid.empty() ? "" : "-" + uid);  // "": a dry run, without a Placement
}

Json MakeSshSecret(const Gang& gang, const SshKey& key) {
  Json secret = MakeConfigMap(gang);
  secret["kind"] = "Secret";
  secret["metadata"]["name"] = SecretName(gang);
  secret["type"] = "Opaque";
  secret.erase("data");
  secret["stringData"] = {{"id", key.private_pem},
                          {"authorized_keys", key.public_line + "\n"},
                          {"known_hosts", "* " + key.public_line + "\n"}};
  return secret;
}

// The file mode matters: ssh refuses a private key that others may read.
Json SshVolumeSource(const Gang& gang) {
  const auto item = [](const std::string& name, int mode) {
    return Json{{"key", name}, {"path", "ssh/" + name}, {"mode", mode}};
  };
  return {
      {"secret",
       {{"name", SecretName(gang)},
        {"items", {item("id", 0400), item("authorized_keys", 0444), item("known_hosts", 0444)}}}}};
}

}  // namespace weft::launch
