#pragma once

#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/http/certificate.h"
#include "operator/kube/client.h"

namespace weft::manager {

// One certificate for all replicas, kept in a Secret of type kubernetes.io/tls, so that clients
// that may read its ca.crt can verify every replica, even after restarts. The first replica signs a
// certificate for ten years and creates the Secret; the others use the Secret's certificate. To
// renew it, delete the Secret and restart the replicas.
// Thread-safety  all calls may run at once.
class SharedCertificate {
 public:
  // `client` must outlive this object; its account must be allowed to get and create the Secret.
  // The Secret has the name of the Service of the replicas: the certificate is for
  // NAME.NAMESPACE.svc.
  static Result<std::unique_ptr<SharedCertificate>> Make(kube::Client& client,
                                                         const api::ObjectKey& secret);

  // Loads the Secret's certificate, or creates the Secret with a new one. Does nothing after a
  // success.
  // Errors  kTransient; kInvalid if the account lacks a right or the Secret has no certificate.
  Status Load();

  // The certificate to serve; no client can verify it until Load has succeeded.
  http::CertificateSource source() const;

 private:
  struct State;
  SharedCertificate(kube::Client& client, api::ObjectKey secret, http::Pem own);
  Result<http::Pem> Stored();
  Result<http::Pem> Create();

  kube::Client& client_;
  const api::ObjectKey secret_;
  const std::shared_ptr<State> state_;
};

}  // namespace weft::manager
