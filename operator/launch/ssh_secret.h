#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/launch/gang.h"

namespace weft::launch {

// The key pair of one attempt. Every worker uses it as host key and as user key. The public key has
// the format of authorized_keys.
struct SshKey {
  std::string private_pem, public_line;
};
// "<job>-<attempt>-weft-<8 digits of the Placement's uid>". The operator may not read Secrets, so
// the uid in the name tells the Secret apart from that of an earlier job with the same name.
std::string SecretName(const Gang& gang);
// The Secret with the key pair; it is mounted at /etc/weft/ssh.
nlohmann::json MakeSshSecret(const Gang& gang, const SshKey& key);
// The Secret's part of the volume with the gang's files.
nlohmann::json SshVolumeSource(const Gang& gang);

}  // namespace weft::launch
