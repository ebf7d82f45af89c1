#pragma once

#include <memory>
#include <string>

#include "operator/base/result.h"
#include "operator/kube/client.h"
#include "operator/service/certificate.h"

namespace weft::service {

// One certificate for all replicas, kept in a Secret of type kubernetes.io/tls, so that whoever may
// read its ca.crt can verify every replica, after restarts too. The first replica signs one for ten
// years and creates the Secret; the others take what stands there. It is renewed by deleting the
// Secret and restarting the replicas.
// Thread-safety  all calls may run at once.
class SharedCertificate {
 public:
  // `client` outlives it; its account may get and create this Secret. The Secret is named as the
  // Service in front of the replicas: the certificate is for the name NAME.NAMESPACE.svc.
  static Result<std::unique_ptr<SharedCertificate>> Make(kube::Client& client,
                                                         const api::ObjectKey& secret);

  // Takes the Secret's certificate, or creates the Secret with its own; once it has, does nothing.
  // Errors  kTransient, and kInvalid where the account may not or the Secret holds something else.
  Status Load();

  // The served certificate; nobody can verify it until Load has succeeded.
  CertificateSource source() const;

 private:
  struct State;
  SharedCertificate(kube::Client& client, api::ObjectKey secret, Pem own);
  Result<Pem> Stored();
  Result<Pem> Create();

  kube::Client& client_;
  const api::ObjectKey secret_;
  const std::shared_ptr<State> state_;
};

}  // namespace weft::service
