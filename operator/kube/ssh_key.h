#pragma once

#include <string>

#include "operator/base/result.h"

namespace weft::kube {

// A new ECDSA key pair on P-256, as OpenSSH reads it.
struct SshKeyPair {
  std::string private_pem;  // PKCS #8
  std::string public_line;  // "ecdsa-sha2-nistp256 AAAA..."
};
// Errors  kTransient where the machine gives no randomness.
Result<SshKeyPair> MakeSshKeyPair();

}  // namespace weft::kube
