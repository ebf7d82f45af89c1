#include "operator/inplace/state_text.h"

namespace weft::inplace {
namespace {

std::string OrNull(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "null";
}

}  // namespace

std::string StateText(const Member& member, const ParentState& parent) {
  const Report state = member.State();
  const std::string started = state.at == kNoRevision ? "null" : std::to_string(state.at);
  std::string text = "{\"rank\": " + std::to_string(state.rank);
  text += ", \"workers\": " + std::to_string(state.workers);
  text += ", \"revision\": " + std::to_string(state.want);
  text += ", \"startedRevision\": " + started;
  text += ", \"phase\": \"" + std::string(NameOf(state.phase));
  text += "\", \"pid\": " + OrNull(parent.pid);
  text += ", \"exitCode\": " + OrNull(member.trainer_code());
  text += std::string(", \"inContact\": ") + (member.in_contact() ? "true" : "false");
  text += ", \"missing\": " + std::to_string(member.missing());
  text += ", \"lastCheckpointTime\": ";
  text += parent.last_checkpoint ? "\"" + FormatTime(*parent.last_checkpoint) + "\"" : "null";
  return text + "}";
}

}  // namespace weft::inplace
