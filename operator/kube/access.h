#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/kube/client.h"

namespace weft::kube {

// Whether a caller has a right, by two requests to the API server: TokenReview names the user of a
// bearer token, and SubjectAccessReview checks the right, as in controller-runtime's filter for
// metrics.
enum class Access : std::uint8_t {
  kAllowed,
  kUnauthenticated,  // no token, or an invalid one
  kForbidden,        // a known user without the right
  kBusy,             // too many unknown tokens at once
  kUnknown,          // the API server does not answer
};

// The right to a path that is not a resource ("/metrics"), or to objects of a resource.
struct AccessQuestion {
  std::string verb = "get";
  std::string path = "";  // if "": the resource below
  std::string group = "", resource = "", space = "",
              name = "";  // space "": every namespace, name "": every object
};

// Asks the API server and caches its answers in a bounded cache: the user of a token for one
// minute, allowed rights for five minutes, denied ones for half a minute. An unknown token costs
// two requests, whose rate is limited: a flood of invalid tokens gets kBusy.
// Thread-safety  all calls may run at once.
class AccessCheck {
 public:
  struct Options {
    double reviews_per_second = 10;
    int burst = 20;
    std::vector<std::string> audiences = {};  // of tokens; empty: the API server's audience
  };
  // `client` and `timer` must outlive this object. The client's account must be allowed to create
  // both reviews.
  AccessCheck(Client& client, Timer& timer, Options options);

  Access Check(const std::string& token, const AccessQuestion& question);
  // Checks a user without groups whose name the caller has verified, for instance by a
  // certificate.
  Access CheckUser(const std::string& name, const AccessQuestion& question);

 private:
  struct User {
    Access access = Access::kUnknown;  // kAllowed: the token has a user
    std::string spec;                  // the user of the SubjectAccessReview, as JSON
    Instant until{};
  };
  struct Verdict {
    Access access = Access::kUnknown;
    Instant until{};
  };
  bool TakeTurn(Instant now);
  User Review(const std::string& token);
  Access Judge(const std::string& spec, const AccessQuestion& question, Instant now);
  Access ReviewAccess(const std::string& spec, const AccessQuestion& question);
  template <typename Map>
  void Cache(Map& map, const std::string& key, typename Map::mapped_type value, Instant now) const;

  Client& client_;
  Timer& timer_;
  const Options options_;
  std::mutex mutex_;
  double turns_;
  Instant turns_filled_{};
  std::map<std::string, User> users_;        // by token
  std::map<std::string, Verdict> verdicts_;  // by user and question
};

}  // namespace weft::kube
