#include "operator/manager/shared_certificate.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "operator/kube/base64.h"

namespace weft::manager {
namespace {

using Json = nlohmann::json;

constexpr long kTenYearsInDays = 3'650;
constexpr const char *kCertificate = "tls.crt", *kKey = "tls.key", *kAuthority = "ca.crt";

std::string Decoded(const Json& data, const char* key) {
  const auto found = data.find(key);
  if (found == data.end() || !found->is_string()) return "";
  return kube::DecodeBase64(found->get_ref<const std::string&>()).value_or("");
}

}  // namespace

struct SharedCertificate::State {
  std::mutex mutex;
  std::shared_ptr<const http::Pem> served;
  bool loaded = false;
};

Result<std::unique_ptr<SharedCertificate>> SharedCertificate::Make(kube::Client& client,
                                                                   const api::ObjectKey& secret) {
  const std::string service = secret.name + "." + secret.space + ".svc";
  Result<http::Pem> own =
      http::SelfSign({service, "localhost", "127.0.0.1", "::1"}, kTenYearsInDays);
  if (!own) return own.error();
  return std::unique_ptr<SharedCertificate>(new SharedCertificate(client, secret, *std::move(own)));
}

SharedCertificate::SharedCertificate(kube::Client& client, api::ObjectKey secret, http::Pem own)
    : client_(client), secret_(std::move(secret)), state_(std::make_shared<State>()) {
  state_->served = std::make_shared<const http::Pem>(std::move(own));
}

http::CertificateSource SharedCertificate::source() const {
  return [state = state_] {
    const std::lock_guard lock(state->mutex);
    return state->served;
  };
}

Status SharedCertificate::Load() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->loaded) return {};
  }
  Result<http::Pem> pem = Stored();
  if (!pem && pem.error().kind == ErrorKind::kNotFound) pem = Create();
  if (!pem && pem.error().kind == ErrorKind::kConflict) pem = Stored();  // another was faster
  if (!pem) return pem.error();
  const std::lock_guard lock(state_->mutex);
  state_->served = std::make_shared<const http::Pem>(*std::move(pem));
  state_->loaded = true;
  return {};
}

Result<http::Pem> SharedCertificate::Stored() {
  const Result<Json> secret = client_.Get(kube::kSecrets, secret_);
  if (!secret) return secret.error();
  const Json data = secret->value("data", Json::object());
  http::Pem pem{Decoded(data, kCertificate), Decoded(data, kKey)};
  if (http::Belongs(pem)) return pem;
  return Invalid("Secret " + api::Show(secret_) +
                 ": must hold tls.crt and tls.key, a certificate "
                 "and its key; delete the Secret, and the operator creates it again");
}

Result<http::Pem> SharedCertificate::Create() {
  const http::Pem own = *source()();
  const Result<Json> created = client_.Create(
      kube::kSecrets,
      {{"apiVersion", "v1"},
       {"kind", "Secret"},
       {"metadata", {{"name", secret_.name}, {"namespace", secret_.space}}},
       {"type", "kubernetes.io/tls"},
       {"stringData", {{kCertificate, own.chain}, {kKey, own.key}, {kAuthority, own.chain}}}});
  if (!created) return created.error();
  return own;
}

}  // namespace weft::manager
