#include "tests/world/selector.h"

#include <algorithm>
#include <utility>

#include "operator/api/json_member.h"

namespace weft::world {

using Json = nlohmann::json;
namespace {

std::string Trimmed(const std::string& text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

// At commas outside of parentheses.
std::vector<std::string> SplitTerms(const std::string& text) {
  std::vector<std::string> parts;
  std::string part;
  int depth = 0;
  for (const char c : text) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.push_back(Trimmed(std::exchange(part, "")));
    } else {
      part += c;
    }
  }
  if (!Trimmed(part).empty()) parts.push_back(Trimmed(part));
  return parts;
}

const Json* FieldAt(const Json& object, const std::string& path) {
  const Json* at = &object;
  for (std::size_t begin = 0; at != nullptr && begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    at = api::FindMember(*at, path.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
  return at;
}

}  // namespace

std::optional<Selector::Requirement> Selector::RequirementOf(const std::string& text) {
  using Of = Requirement::Kind;
  if (text.empty()) return std::nullopt;
  if (const auto open = text.find('('); open != std::string::npos) {
    if (text.back() != ')') return std::nullopt;
    std::string head = Trimmed(text.substr(0, open));
    const auto space = head.find(' ');
    if (space == std::string::npos) return std::nullopt;
    const std::string word = Trimmed(head.substr(space));
    if (word != "in" && word != "notin") return std::nullopt;
    return Requirement{head.substr(0, space), word == "in" ? Of::kIn : Of::kNotIn,
                       SplitTerms(text.substr(open + 1, text.size() - open - 2))};
  }
  if (text[0] == '!') return Requirement{Trimmed(text.substr(1)), Of::kAbsent, {}};
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    if (text.find(' ') != std::string::npos) return std::nullopt;
    return Requirement{text, Of::kExists, {}};
  }
  const bool negated = equals > 0 && text[equals - 1] == '!';
  const bool doubled = equals + 1 < text.size() && text[equals + 1] == '=';
  return Requirement{Trimmed(text.substr(0, equals - (negated ? 1 : 0))),
                     negated ? Of::kNotIn : Of::kIn,
                     {Trimmed(text.substr(equals + (doubled ? 2 : 1)))}};
}

std::optional<Selector> Selector::Of(const kube::Request& request) {
  Selector selector;
  for (const auto& [name, list] : {std::pair{"labelSelector", &selector.labels_},
                                   std::pair{"fieldSelector", &selector.fields_}}) {
    const auto found = request.query.find(name);
    if (found == request.query.end()) continue;
    for (const std::string& term : SplitTerms(found->second)) {
      auto requirement = RequirementOf(term);
      if (!requirement) return std::nullopt;
      list->push_back(std::move(*requirement));
    }
  }
  return selector;
}

bool Selector::Matches(const Requirement& requirement, const Json* value) {
  using Of = Requirement::Kind;
  const bool has = value != nullptr && value->is_string();
  if (requirement.kind == Of::kExists) return has;
  if (requirement.kind == Of::kAbsent) return !has;
  const bool in =
      has && std::find(requirement.values.begin(), requirement.values.end(),
                       value->get_ref<const std::string&>()) != requirement.values.end();
  return in == (requirement.kind == Of::kIn);
}

bool Selector::Matches(const Json& object) const {
  if (!labels_.empty()) {
    const Json* metadata = api::FindMember(object, "metadata");
    const Json* labels = metadata == nullptr ? nullptr : api::FindMember(*metadata, "labels");
    for (const Requirement& requirement : labels_) {
      const Json* value =
          labels == nullptr ? nullptr : api::FindMember(*labels, requirement.key.c_str());
      if (!Matches(requirement, value)) return false;
    }
  }
  const Json nothing = "";  // an absent field counts as empty text
  return std::all_of(fields_.begin(), fields_.end(), [&](const Requirement& requirement) {
    const Json* value = FieldAt(object, requirement.key);
    return Matches(requirement, value == nullptr ? &nothing : value);
  });
}

std::string Selector::Name() const {
  for (const Requirement& field : fields_) {
    if (field.key == "metadata.name" && field.kind == Requirement::Kind::kIn) {
      return field.values[0];
    }
  }
  return "";
}

Selector Selector::OfNode() const {
  Selector node;
  for (const Requirement& field : fields_) {
    const bool exact = field.kind == Requirement::Kind::kIn;
    if (exact && field.key == "spec.nodeName") node.fields_.push_back(field);
  }
  return node;
}

std::string Selector::BadField(const std::string& resource) const {
  for (const Requirement& field : fields_) {
    if (field.key == "metadata.name" || field.key == "metadata.namespace") continue;
    const bool of_pods = field.key == "spec.nodeName" || field.key == "status.phase" ||
                         field.key == "spec.schedulerName" || field.key == "spec.restartPolicy";
    if (resource == "pods" && of_pods) continue;
    if (resource == "nodes" && field.key == "spec.unschedulable") continue;
    if (resource == "namespaces" && field.key == "status.phase") continue;
    if (resource == "secrets" && field.key == "type") continue;
    const bool of_events = field.key == "involvedObject.kind" ||
                           field.key == "involvedObject.uid" || field.key == "type" ||
                           field.key == "reason";
    if (resource == "events" && of_events) continue;
    return field.key;
  }
  return "";
}

}  // namespace weft::world
