#pragma once

#include <string>

#include "operator/base/result.h"

namespace weft::kube {

// A new ECDSA key pair on P-256, in the formats of OpenSSH.
struct SshKeyPair {
  std::string private_pem;  // PKCS #8
  std::string public_line;  // "ecdsa-sha2-nistp256 AAAA..."
};
// Errors  kTransient if the machine has no randomness.
Result<SshKeyPair> MakeSshKeyPair();

}  // namespace weft::kube
