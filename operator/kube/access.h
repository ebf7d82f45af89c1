#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "operator/kube/client.h"

namespace weft::kube {

// What a caller wants to do: to a resource, or to a path that is none.
struct Attempt {
  std::string verb;
  std::string group, resource, space;  // of a resource
  std::string path;                    // "/metrics"; "" for a resource
};

// Whether the holder of a bearer token may do something, in the API server's own words: TokenReview
// says who it is, SubjectAccessReview what they may.
//
// Answers are kept for half a minute: a scrape or a stream of calls costs nothing more.
// Thread-safety  all calls may run at once.
class AccessChecker {
 public:
  enum class Verdict { kAllowed, kUnknownToken, kForbidden };
  using Clock = std::function<std::chrono::steady_clock::time_point()>;

  explicit AccessChecker(Client& client, Clock now = std::chrono::steady_clock::now);

  // Errors  kTransient and others of the client: no answer.
  Result<Verdict> Check(const std::string& token, const Attempt& attempt);

 private:
  Result<Verdict> Ask(const std::string& token, const Attempt& attempt);

  struct Answer {
    Verdict verdict;
    std::chrono::steady_clock::time_point until;
  };
  Client& client_;
  const Clock now_;
  std::mutex mutex_;
  std::map<std::string, Answer> answers_;  // by digest of token and attempt: no secrets in memory
};

}  // namespace weft::kube
