#include "operator/manager/shared_certificate.h"

#include <gtest/gtest.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace weft::manager {
namespace {

using Json = nlohmann::json;

std::string Base64(const std::string& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                   reinterpret_cast<const unsigned char*>(bytes.data()),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

// An API server that keeps one Secret.
class Secrets : public kube::Transport {
 public:
  Result<kube::Response> Send(const kube::Request& request) override {
    if (down) return Error{ErrorKind::kTransient, "no connection"};
    asked.push_back(request.method == kube::Method::kGet ? "GET" : "POST");
    if (request.method == kube::Method::kGet) {
      if (!stored || hidden_once) return hidden_once = false, Answer(404, Json::object());
      return Answer(200, {{"data", data}});
    }
    if (stored) return Answer(409, {{"reason", "AlreadyExists"}});
    stored = true;
    created = Json::parse(request.body);
    for (const auto& [key, value] : created["stringData"].items()) {
      data[key] = Base64(value.get<std::string>());
    }
    return Answer(201, created);
  }
  Result<kube::Response> Stream(const kube::Request&, const kube::ChunkSink&,
                                const kube::Cancel&) override {
    return Error{ErrorKind::kInvalid, "not here"};
  }

  bool down = false, stored = false, hidden_once = false;
  Json created, data = Json::object();
  std::vector<std::string> asked;

 private:
  static Result<kube::Response> Answer(int status, const Json& body) {
    return kube::Response{status, {}, body.dump()};
  }
};

class NoWaiting : public kube::Timer {
 public:
  kube::Instant Now() const override { return {}; }
  kube::WallMicros Wall() const override { return 0; }
  bool Wait(kube::Millis) override { return true; }
  void End() override {}
};

struct World {
  Secrets server;
  NoWaiting timer;
  kube::Client client{server, timer, {.tries = 1}};

  std::unique_ptr<SharedCertificate> Replica() {
    return *SharedCertificate::Make(client, {"weft-system", "weft-operator-metrics"});
  }
};

TEST(SharedCertificateTest, TheFirstReplicaStoresItsCertificateAndTheOthersTakeIt) {
  World world;
  const auto first = world.Replica(), second = world.Replica();
  ASSERT_TRUE(first->Load());
  const http::Pem pem = *first->source()();
  EXPECT_EQ(world.server.created,
            Json({{"apiVersion", "v1"},
                  {"kind", "Secret"},
                  {"metadata", {{"name", "weft-operator-metrics"}, {"namespace", "weft-system"}}},
                  {"type", "kubernetes.io/tls"},
                  {"stringData",
                   {{"tls.crt", pem.chain}, {"tls.key", pem.key}, {"ca.crt", pem.chain}}}}));
  EXPECT_NE(second->source()()->chain, pem.chain);
  ASSERT_TRUE(second->Load());
  EXPECT_EQ(second->source()()->chain, pem.chain);
  EXPECT_EQ(second->source()()->key, pem.key);
}

TEST(SharedCertificateTest, WhoComesSecondWithTheSecretTakesTheOther) {
  World world;
  ASSERT_TRUE(world.Replica()->Load());
  const auto late = world.Replica();
  world.server.hidden_once = true;
  ASSERT_TRUE(late->Load());
  EXPECT_EQ(Base64(late->source()()->chain), world.server.data["tls.crt"]);
  EXPECT_EQ(world.server.asked, (std::vector<std::string>{"GET", "POST", "GET", "POST", "GET"}));
}

TEST(SharedCertificateTest, WithoutAnApiServerItServesItsOwnAndAsksAgainUntilItHasTheOther) {
  World world;
  world.server.down = true;
  const auto replica = world.Replica();
  EXPECT_FALSE(replica->Load());
  EXPECT_TRUE(http::Belongs(*replica->source()()));
  world.server.down = false;
  EXPECT_TRUE(replica->Load());
  EXPECT_TRUE(replica->Load());
  EXPECT_EQ(world.server.asked, (std::vector<std::string>{"GET", "POST"}));
}

TEST(SharedCertificateTest, ASecretThatHoldsSomethingElseIsNamed) {
  World world;
  world.server.stored = true;
  world.server.data = {{"tls.crt", Base64("x")}};
  const Status loaded = world.Replica()->Load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().message,
            "Secret weft-system/weft-operator-metrics: must hold tls.crt and tls.key, a "
            "certificate and its key; delete the Secret, and the operator creates it again");
}

TEST(SharedCertificateTest, ItIsForTheNameOfTheService) {
  World world;
  const http::Pem pem = *world.Replica()->source()();
  BIO* bio = BIO_new_mem_buf(pem.chain.data(), static_cast<int>(pem.chain.size()));
  X509* certificate = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  ASSERT_NE(certificate, nullptr);
  EXPECT_EQ(X509_check_host(certificate, "weft-operator-metrics.weft-system.svc", 0, 0, nullptr),
            1);
  X509_free(certificate);
}

}  // namespace
}  // namespace weft::manager
