#include "operator/http/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

namespace weft::http {
namespace {

template <auto Free>
struct Freeing {
  template <typename T>
  void operator()(T* one) const {
    Free(one);
  }
};
using Bio = std::unique_ptr<BIO, Freeing<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Freeing<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Freeing<X509_EXTENSION_free>>;

constexpr long kDay = 24L * 3'600;
constexpr long kValidDays = 365;
constexpr std::chrono::hours kRenewed{24 * 180};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Bio Reading(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string TextOf(const Bio& bio) {
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return {text, static_cast<std::size_t>(size)};
}

std::string NamesText(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    in6_addr any{};
    const bool address =
        inet_pton(AF_INET, name.c_str(), &any) == 1 || inet_pton(AF_INET6, name.c_str(), &any) == 1;
    text += (text.empty() ? "" : ",") + std::string(address ? "IP:" : "DNS:") + name;
  }
  return text;
}

bool AddExtension(X509* certificate, int kind, const std::string& value) {
  X509V3_CTX context{};
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool Fill(X509* certificate, EVP_PKEY* key, const std::vector<std::string>& names, long days) {
  std::uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1) return false;
  X509_NAME* name = X509_get_subject_name(certificate);
  const auto* common = reinterpret_cast<const unsigned char*>("weft-operator");
  return X509_set_version(certificate, X509_VERSION_3) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
         X509_gmtime_adj(X509_getm_notBefore(certificate), -kDay) != nullptr &&
         X509_gmtime_adj(X509_getm_notAfter(certificate), days * kDay) != nullptr &&
         X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, common, -1, -1, 0) == 1 &&
         X509_set_issuer_name(certificate, name) == 1 && X509_set_pubkey(certificate, key) == 1 &&
         AddExtension(certificate, NID_basic_constraints, "critical,CA:FALSE") &&
         AddExtension(certificate, NID_ext_key_usage, "serverAuth") &&
         AddExtension(certificate, NID_subject_alt_name, NamesText(names)) &&
         X509_sign(certificate, key, EVP_sha256()) > 0;
}

}  // namespace

bool Belongs(const Pem& pem) {
  const Bio chain = Reading(pem.chain), key_text = Reading(pem.key);
  const Certificate certificate(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
  const bool good = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return good;
}

Result<Pem> SelfSign(const std::vector<std::string>& names, long days) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  const Bio chain(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  if (!key || !certificate || !chain || !key_text ||
      !Fill(certificate.get(), key.get(), names, days) ||
      PEM_write_bio_X509(chain.get(), certificate.get()) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                    nullptr) != 1) {
    ERR_clear_error();
    return Error{ErrorKind::kTransient, "no certificate could be made"};
  }
  return Pem{TextOf(chain), TextOf(key_text)};
}

Result<CertificateSource> MountedCertificate(const std::string& folder) {
  struct State {
    std::mutex mutex;
    std::shared_ptr<const Pem> good;
  };
  const auto state = std::make_shared<State>();
  CertificateSource source = [folder, state] {
    auto pem =
        std::make_shared<Pem>(Pem{ReadFile(folder + "/tls.crt"), ReadFile(folder + "/tls.key")});
    const std::lock_guard lock(state->mutex);
    const bool same =
        state->good && state->good->chain == pem->chain && state->good->key == pem->key;
    if (!same && Belongs(*pem)) state->good = std::move(pem);
    return state->good;
  };
  if (source() == nullptr) {
    return Invalid(folder + ": must hold tls.crt and tls.key, a certificate and its key");
  }
  return source;
}

Result<CertificateSource> SelfSignedCertificate(const std::vector<std::string>& names,
                                                const run::Clock& clock) {
  struct State {
    std::mutex mutex;
    std::shared_ptr<const Pem> pem;
    run::Instant made;
  };
  Result<Pem> first = SelfSign(names, kValidDays);
  if (!first) return first.error();
  const auto state = std::make_shared<State>();
  state->pem = std::make_shared<const Pem>(*std::move(first));
  state->made = clock.Now();
  return CertificateSource([names, state, &clock] {
    const std::lock_guard lock(state->mutex);
    if (clock.Now() - state->made > kRenewed) {
      if (Result<Pem> next = SelfSign(names, kValidDays)) {
        state->pem = std::make_shared<const Pem>(*std::move(next));
        state->made = clock.Now();
      }
    }
    return state->pem;
  });
}

}  // namespace weft::http
