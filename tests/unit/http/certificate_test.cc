#include "operator/http/certificate.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace weft::http {
namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "weft-certificate-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void Write(const Pem& pem) const {
    std::ofstream(path / "tls.crt") << pem.chain;
    std::ofstream(path / "tls.key") << pem.key;
  }
};

struct SetClock final : run::Clock {
  run::Instant now{};
  run::Instant Now() const override { return now; }
  run::WallMicros Wall() const override { return 0; }
};

Pem NewPem() { return *SelfSign({"localhost"}, 1); }

X509* Parse(const Pem& pem) {
  BIO* bio = BIO_new_mem_buf(pem.chain.data(), static_cast<int>(pem.chain.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  return certificate;
}

TEST(CertificateTest, OneSignedByItselfIsForItsNamesAndForAYear) {
  SetClock clock;
  const auto source = SelfSignedCertificate({"operator.example", "127.0.0.1", "::1"}, clock);
  ASSERT_TRUE(source);
  X509* certificate = Parse(*(*source)());
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_check_host(certificate, "operator.example", 0, 0, nullptr), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "127.0.0.1", 0), 1);
  EXPECT_EQ(X509_check_ip_asc(certificate, "::1", 0), 1);
  EXPECT_EQ(X509_check_host(certificate, "other.example", 0, 0, nullptr), 0);
  EXPECT_EQ(X509_cmp_current_time(X509_get0_notBefore(certificate)), -1);
  int days = 0, seconds = 0;
  ASN1_TIME_diff(&days, &seconds, nullptr, X509_get0_notAfter(certificate));
  EXPECT_GE(days, 364);
  EXPECT_EQ(X509_verify(certificate, X509_get0_pubkey(certificate)), 1);
  X509_free(certificate);
}

TEST(CertificateTest, OneSignedByItselfIsRenewedAfterHalfAYear) {
  SetClock clock;
  const auto source = SelfSignedCertificate({"localhost"}, clock);
  ASSERT_TRUE(source);
  const std::string first = (*source)()->key;
  clock.now += std::chrono::hours(24 * 180);
  EXPECT_EQ((*source)()->key, first);
  clock.now += std::chrono::seconds(1);
  const std::string second = (*source)()->key;
  EXPECT_NE(second, first);
  EXPECT_EQ((*source)()->key, second);
}

TEST(CertificateTest, AReplacedPairIsUsedAtOnce) {
  const Folder folder;
  const Pem first = NewPem(), second = NewPem();
  folder.Write(first);
  const auto source = MountedCertificate(folder.path);
  ASSERT_TRUE(source);
  EXPECT_EQ((*source)()->chain, first.chain);
  folder.Write(second);
  EXPECT_EQ((*source)()->chain, second.chain);
}

TEST(CertificateTest, APairThatDoesNotBelongTogetherLeavesTheLastInUse) {
  const Folder folder;
  const Pem first = NewPem(), second = NewPem();
  folder.Write(first);
  const auto source = MountedCertificate(folder.path);
  ASSERT_TRUE(source);
  folder.Write({second.chain, first.key});
  EXPECT_EQ((*source)()->chain, first.chain);
  folder.Write({"", ""});
  EXPECT_EQ((*source)()->chain, first.chain);
  fs::remove(folder.path / "tls.key");
  EXPECT_EQ((*source)()->chain, first.chain);
}

TEST(CertificateTest, AFolderWithoutAPairIsNamed) {
  const Folder folder;
  const auto source = MountedCertificate(folder.path);
  ASSERT_FALSE(source);
  EXPECT_EQ(source.error().message,
            folder.path.string() + ": must hold tls.crt and tls.key, a certificate and its key");
}

}  // namespace
}  // namespace weft::http
