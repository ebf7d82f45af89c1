#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/result.h"

namespace weft::service {

// A certificate with those between it and its authority, and its key, as PEM.
struct Pem {
  std::string chain, key;
};

// One that signs itself, for these DNS names and IP addresses, on a new P-256 key.
// Errors  kTransient: OpenSSL's.
Result<Pem> SelfSign(const std::vector<std::string>& names, long days);

// Whether it is a certificate and the key that it is for.
bool Belongs(const Pem& pem);

// The certificate for the next connection; called from the library's threads.
using CertificateSource = std::function<std::shared_ptr<const Pem>()>;

// A CA's certificate: tls.crt and tls.key in a folder, like a mounted Secret of type
// kubernetes.io/tls. Reloaded for every connection; while the files are being replaced and are
// unreadable or do not match, the last good pair stays in use.
// Errors  kInvalid: there is no good pair now.
Result<CertificateSource> MountedCertificate(const std::string& folder);

// Made by SelfSign, renewed long before its year is over; nobody can verify it.
// Errors  kTransient: OpenSSL's.
Result<CertificateSource> SelfSignedCertificate(const std::vector<std::string>& names);

}  // namespace weft::service
