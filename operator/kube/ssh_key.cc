#include "operator/kube/ssh_key.h"

#include <openssl/bio.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weft::kube {
namespace {

constexpr std::size_t kPointBytes = 65;  // of P-256, uncompressed

// A string of the SSH protocol: its length in four bytes, the most significant first (RFC 4251).
std::string Counted(std::string_view text) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    out += static_cast<char>((text.size() >> shift) & 0xFF);
  }
  return out + std::string(text);
}

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

std::string Pem(EVP_PKEY* key) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  if (!memory ||
      PEM_write_bio_PrivateKey(memory.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return "";
  }
  char* text = nullptr;
  const long length = BIO_get_mem_data(memory.get(), &text);
  return {text, static_cast<std::size_t>(length)};
}

// RFC 5656, section 3.1.
std::string PublicLine(EVP_PKEY* key) {
  std::array<unsigned char, kPointBytes> point{};
  std::size_t length = 0;
  if (EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, point.data(),
                                      point.size(), &length) != 1) {
    return "";
  }
  const std::string_view bytes(reinterpret_cast<const char*>(point.data()), length);
  return "ecdsa-sha2-nistp256 " +
         Base64(Counted("ecdsa-sha2-nistp256") + Counted("nistp256") + Counted(bytes));
}

}  // namespace

Result<SshKeyPair> MakeSshKeyPair() {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  if (!key) return Error{ErrorKind::kTransient, "no key pair could be made"};
  SshKeyPair pair{Pem(key.get()), PublicLine(key.get())};
  if (pair.private_pem.empty() || pair.public_line.empty()) {
    return Error{ErrorKind::kTransient, "a key pair could not be written"};
  }
  return pair;
}

}  // namespace weft::kube
