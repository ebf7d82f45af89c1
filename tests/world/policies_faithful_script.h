#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator/base/random.h"
#include "operator/kube/requests.h"
#include "tests/world/api_server.h"

namespace weft::world {

// Who asks. On the real API server policies_test.sh binds their roles.
inline constexpr const char* kTenant = "tenant";  // `edit` in team-a and team-p
inline constexpr const char* kPipeline =
    "system:serviceaccount:team-a:pipeline";    // `admin` in team-a
inline constexpr const char* kAdmin = "admin";  // of the cluster

// A request of somebody. All but reads are dry runs, which admission is asked about all the same.
struct Question {
  std::string what;  // for people
  std::string user;
  kube::Request request;
};

// Namespaces and the objects that questions are about, in their order. A status is a patch of its
// own.
std::vector<kube::Request> PolicyObjects();
// One for each policy, which it denies: the real API server learns of policies in its own time.
std::vector<Question> FirstQuestions();

// Random questions: right ones of the operator, and changed copies of them, of all users. The same
// seed gives the same ones.
class Questions {
 public:
  explicit Questions(std::uint64_t seed) : random_(seed) {}
  Question Next();

 private:
  std::size_t Below(std::size_t count) { return static_cast<std::size_t>(random_.Below(count)); }
  std::string AnyUser();
  Question Create(const std::string& user);
  Question Patch(const std::string& user);
  Question Delete(const std::string& user);
  Question Read(const std::string& user);
  Question Other(const std::string& user);

  SplitMix64 random_;
};

}  // namespace weft::world
