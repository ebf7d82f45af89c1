#include "operator/kube/exec_plugin.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>

#include "operator/api/json_text.h"

extern char** environ;

namespace weft::kube {
namespace {

using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kLongest{60};
constexpr std::size_t kMostBytes = std::size_t{1} << 20;

std::vector<std::string> EnvironmentOf(const ExecPlugin& plugin) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  for (const auto& [name, value] : plugin.environment) variables.push_back(name + "=" + value);
  const Json info = {{"apiVersion", plugin.api_version},
                     {"kind", "ExecCredential"},
                     {"spec", {{"interactive", false}}}};
  variables.push_back("KUBERNETES_EXEC_INFO=" + api::JsonText(info));
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

Error Failed(const ExecPlugin& plugin, const std::string& what) {
  std::string message = "credential plug-in " + plugin.command + ": " + what;
  if (!plugin.install_hint.empty()) message += "; " + plugin.install_hint;
  return Invalid(std::move(message));
}

// A child process. Its standard output is read until it exits; at the deadline it is killed.
class Child {
 public:
  ~Child() {
    if (out_ >= 0) close(out_);
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  bool Start(const ExecPlugin& plugin) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    out_ = ends[0];
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::vector<std::string> arguments = {plugin.command};
    arguments.insert(arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
    std::vector<std::string> environment = EnvironmentOf(plugin);
    const int failed = posix_spawnp(&pid_, plugin.command.c_str(), &actions, nullptr,
                                    Pointers(arguments).data(), Pointers(environment).data());
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) pid_ = -1;
    return failed == 0;
  }

  // Returns false at the deadline, or if it prints too much.
  bool ReadAll(std::string& text) {
    const Clock::time_point end = Clock::now() + kLongest;
    std::array<char, 4096> piece{};
    while (text.size() <= kMostBytes) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd waiting{out_, POLLIN, 0};
      if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) return false;
      const ssize_t got = read(out_, piece.data(), piece.size());
      if (got < 0) return false;
      if (got == 0) return true;
      text.append(piece.data(), static_cast<std::size_t>(got));
    }
    return false;
  }

  int Wait() {
    int status = -1;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1;
};

}  // namespace

Result<ExecAnswer> RunExecPlugin(const ExecPlugin& plugin) {
  Child child;
  if (!child.Start(plugin)) return Failed(plugin, "cannot be started");
  std::string text;
  if (!child.ReadAll(text)) return Failed(plugin, "gave no answer within a minute");
  if (const int code = child.Wait(); code != 0) {
    return Failed(plugin, "ended with exit code " + std::to_string(code));
  }
  const Json answer = api::ParseJson(text);
  const auto status = answer.is_object() ? answer.find("status") : answer.end();
  if (!answer.is_object() || status == answer.end() || !status->is_object()) {
    return Failed(plugin, "printed no ExecCredential with a status");
  }
  ExecAnswer credential;
  credential.identity = {status->value("clientCertificateData", ""),
                         status->value("clientKeyData", ""), status->value("token", "")};
  credential.expires = status->value("expirationTimestamp", "");
  if (credential.identity.token.empty() && credential.identity.certificate.empty()) {
    return Failed(plugin, "gave neither a token nor a certificate");
  }
  return credential;
}

}  // namespace weft::kube
