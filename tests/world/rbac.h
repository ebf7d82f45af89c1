#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/api/meta.h"

namespace weft::world {

// Rules of RBAC, as ApiServer::SetRights takes them, in a form in which they are asked fast.
class Rbac {
 public:
  struct Question {
    std::string verb, group;
    std::string resource;  // "pods/eviction"
    api::ObjectKey key;    // name "": of a collection
  };
  explicit Rbac(const std::vector<nlohmann::json>& rules);
  bool Allows(const Question& question) const;

 private:
  struct Grant {
    std::vector<std::string> names;  // empty: any
    bool everywhere = true;          // or in these namespaces
    std::vector<std::string> spaces;
  };
  bool Has(const std::string& verb, const std::string& group, const std::string& resource,
           const api::ObjectKey& key) const;

  std::map<std::string, std::vector<Grant>> grants_;  // by "verb group resource"
  bool wild_ = false;                                 // a rule has "*"
};

}  // namespace weft::world
