#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "operator/kube/transport.h"

namespace weft::world {

using Json = nlohmann::json;

// One of two API servers that get the same script, with what it has answered. Scripts name versions
// and uids by when they were seen: "the version before the last of this object".
class Side {
 public:
  Side(std::string name, kube::Transport& transport)
      : name_(std::move(name)), transport_(transport) {}

  // Causes with these messages are left out of refusals. One that has no others is
  // {"refused by rules": true}.
  std::vector<std::string> rules;

  // The answer in a form that may be compared: {"status": 200, "body": ...}.
  Json Send(const kube::Request& request);
  // The events of a watch, as {"version": number, "type": ..., "object": ...}; ends after `most`.
  std::vector<Json> Watch(const kube::Request& request, std::size_t most);

  // "" if it was not seen so often. `path` is that of the object, without a subresource.
  std::string Version(const std::string& path, std::size_t back) const;
  std::string Uid(const std::string& path, std::size_t back) const;
  std::string First(const std::string& path) const;  // the oldest version
  // The object as it was last answered; null if there is none.
  Json Last(const std::string& path) const;
  const std::string& name() const { return name_; }

  // Two sides' times, uids and versions in the same words.
  Json Plain(const Json& value);

 private:
  struct Seen {
    std::vector<std::string> versions, uids;
    Json last;
  };
  void Remember(const std::string& path, const Json& object);
  Json PlainObject(const Json& object);
  bool DropRules(Json& status) const;
  std::string PlainText(const std::string& text);

  std::string name_;
  kube::Transport& transport_;
  std::map<std::string, Seen> seen_;              // by path
  std::map<std::string, std::string> uid_words_;  // "uid 3", in the order in which they were seen
};

}  // namespace weft::world
