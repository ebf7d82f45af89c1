#include "operator/kube/credentials.h"

#include <algorithm>
#include <ctime>

#include "operator/base/timestamp.h"
#include "operator/kube/exec_plugin.h"
#include "operator/kube/load_config.h"

namespace weft::kube {
namespace {

// Files may be rotated (a pod's token every hour), so they are read again after this time.
constexpr std::chrono::seconds kFileLife{60};
constexpr std::chrono::hours kForEver{24 * 365};
// Credentials of a plug-in are renewed this long before they expire.
constexpr std::int64_t kEarlySeconds = 30;

std::string Trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

}  // namespace

Result<Identity> Credentials::Get() {
  const std::lock_guard lock(mutex_);
  if (!identity_ || Clock::now() >= expires_) {
    if (Status renewed = Renew(); !renewed) return renewed.error();
  }
  return *identity_;
}

void Credentials::Refused() {
  const std::lock_guard lock(mutex_);
  identity_.reset();
}

Status Credentials::Renew() {
  Identity identity;
  expires_ = Clock::now() + kForEver;
  if (!config_.exec.command.empty()) {
    Result<ExecAnswer> answer = RunExecPlugin(config_.exec);
    if (!answer) return answer.error();
    identity = answer->identity;
    if (const auto end = ParseTime(answer->expires)) {
      const std::int64_t left = *end - std::time(nullptr) - kEarlySeconds;
      expires_ = Clock::now() + std::chrono::seconds(std::max<std::int64_t>(left, 0));
    }
    identity_ = std::move(identity);
    return {};
  }
  for (const auto& [source, text] :
       {std::pair{&config_.certificate, &identity.certificate},
        std::pair{&config_.key, &identity.key}, std::pair{&config_.token, &identity.token}}) {
    Result<std::string> read = Read(*source);
    if (!read) return read.error();
    *text = *std::move(read);
    if (!source->file.empty()) expires_ = std::min(expires_, Clock::now() + kFileLife);
  }
  identity.token = Trimmed(std::move(identity.token));
  identity_ = std::move(identity);
  return {};
}

}  // namespace weft::kube
