#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace weft::testing {

// A checker for the XML that the renderers write: elements, attributes in double quotes, text and
// five references. Anything else is a fault.
class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : text_(text) {}

  // "" where the text is one well-formed element, else what is wrong and where.
  std::string Fault() {
    while (fault_.empty() && at_ < text_.size()) {
      text_[at_] == '<' ? Tag() : Content();
    }
    if (fault_.empty() && !open_.empty()) Fail("<" + open_.back() + "> is not closed");
    if (fault_.empty() && roots_ != 1) Fail("not one root");
    return fault_;
  }

 private:
  void Fail(const std::string& what) {
    if (fault_.empty()) fault_ = what + " at byte " + std::to_string(at_);
  }

  std::string Word() {
    const std::size_t from = at_;
    const auto part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    };
    while (at_ < text_.size() && part(text_[at_])) ++at_;
    if (at_ == from) Fail("a name is missing");
    return std::string(text_.substr(from, at_ - from));
  }

  bool Take(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  void Tag() {
    if (Take("</")) {
      const std::string name = Word();
      if (open_.empty() || open_.back() != name) return Fail("</" + name + "> closes nothing");
      open_.pop_back();
      if (!Take(">")) Fail("> is missing");
      return;
    }
    Take("<");
    const std::string name = Word();
    if (open_.empty()) ++roots_;
    Attributes();
    if (!fault_.empty() || Take("/>")) return;
    if (!Take(">")) return Fail("> is missing");
    open_.push_back(name);
  }

  void Attributes() {
    std::vector<std::string> seen;
    while (fault_.empty() && Take(" ")) {
      const std::string name = Word();
      if (std::find(seen.begin(), seen.end(), name) != seen.end()) return Fail(name + " twice");
      seen.push_back(name);
      if (!Take("=\"")) return Fail("=\" is missing");
      while (fault_.empty() && at_ < text_.size() && text_[at_] != '"') Character();
      if (!Take("\"")) Fail("the value does not end");
    }
  }

  void Content() {
    if (open_.empty() && text_[at_] != '\n') return Fail("text outside the root");
    Character();
  }

  void Character() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '<' || (byte < ' ' && byte != '\n') || byte == 0x7f) return Fail("a bad character");
    if (byte != '&') {
      ++at_;
      return;
    }
    constexpr std::array<std::string_view, 5> kReferences = {"&amp;", "&lt;", "&gt;", "&quot;",
                                                             "&#39;"};
    for (std::string_view reference : kReferences) {
      if (Take(reference)) return;
    }
    Fail("an unknown reference");
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int roots_ = 0;
  std::vector<std::string> open_;
  std::string fault_;
};

inline std::string XmlFault(std::string_view text) { return XmlCheck(text).Fault(); }

}  // namespace weft::testing
