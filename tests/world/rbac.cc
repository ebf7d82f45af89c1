#include "tests/world/rbac.h"

#include <algorithm>

namespace weft::world {
namespace {

std::vector<std::string> TextsOf(const nlohmann::json& rule, const char* member) {
  const auto found = rule.find(member);
  return found == rule.end() ? std::vector<std::string>{} : found->get<std::vector<std::string>>();
}

std::string GrantOf(const std::string& verb, const std::string& group,
                    const std::string& resource) {
  return verb + " " + group + " " + resource;
}

bool Contains(const std::vector<std::string>& list, const std::string& text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

Rbac::Rbac(const std::vector<nlohmann::json>& rules) {
  for (const nlohmann::json& rule : rules) {
    const Grant grant{TextsOf(rule, "resourceNames"), !rule.contains("namespaces"),
                      TextsOf(rule, "namespaces")};
    for (const std::string& verb : TextsOf(rule, "verbs")) {
      for (const std::string& group : TextsOf(rule, "apiGroups")) {
        for (const std::string& resource : TextsOf(rule, "resources")) {
          grants_[GrantOf(verb, group, resource)].push_back(grant);
          wild_ = wild_ || verb == "*" || group == "*" || resource == "*";
        }
      }
    }
  }
}

bool Rbac::Has(const std::string& verb, const std::string& group, const std::string& resource,
               const api::ObjectKey& key) const {
  const auto found = grants_.find(GrantOf(verb, group, resource));
  if (found == grants_.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(), [&](const Grant& grant) {
    if (!grant.everywhere && !Contains(grant.spaces, key.space)) return false;
    return grant.names.empty() || (!key.name.empty() && Contains(grant.names, key.name));
  });
}

bool Rbac::Allows(const Question& question) const {
  const auto& [verb, group, resource, key] = question;
  if (Has(verb, group, resource, key)) return true;
  if (!wild_) return false;
  for (const std::string& any_verb : {verb, std::string("*")}) {
    for (const std::string& any_group : {group, std::string("*")}) {
      for (const std::string& any_resource : {resource, std::string("*")}) {
        if (Has(any_verb, any_group, any_resource, key)) return true;
      }
    }
  }
  return false;
}

}  // namespace weft::world
