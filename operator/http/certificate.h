#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "operator/base/result.h"
#include "operator/run/clock.h"

namespace weft::http {

// A certificate with its chain of intermediates, and its private key, as PEM.
struct Pem {
  std::string chain, key;
};

// A self-signed certificate for these DNS names and IP addresses, with a new P-256 key.
// Errors  kTransient: OpenSSL failed.
Result<Pem> SelfSign(const std::vector<std::string>& names, long days);

// Whether the key belongs to the certificate.
bool Belongs(const Pem& pem);

// Returns the certificate for the next connection; called in the HTTP library's threads.
using CertificateSource = std::function<std::shared_ptr<const Pem>()>;

// A source that reads tls.crt and tls.key from a folder, such as a mounted Secret of type
// kubernetes.io/tls, for every connection. While files are being replaced and cannot be read or do
// not match, the last good pair stays in use.
// Errors  kInvalid: the folder has no good pair now.
Result<CertificateSource> MountedCertificate(const std::string& folder);

// A source of a certificate by SelfSign, renewed long before its year is over. No client can verify
// it. The clock must outlive it.
// Errors  kTransient: OpenSSL failed.
Result<CertificateSource> SelfSignedCertificate(const std::vector<std::string>& names,
                                                const run::Clock& clock);

}  // namespace weft::http
