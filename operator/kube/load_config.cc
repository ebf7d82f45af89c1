#include "operator/kube/load_config.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "operator/kube/environment.h"
#include "operator/kube/kubeconfig.h"

namespace weft::kube {
namespace {

constexpr const char* kAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

std::vector<std::string> PathsOf(const std::string& list) {
  std::vector<std::string> paths;
  std::size_t begin = 0;
  while (begin <= list.size()) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) paths.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return paths;
}

// The Config of a pod's service account.
Result<Config> OwnAccount() {
  std::string host = Environment("KUBERNETES_SERVICE_HOST");
  const std::string port = Environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return Invalid(
        "no cluster: found neither --kubeconfig, $KUBECONFIG, ~/.kube/config nor a pod's service "
        "account");
  }
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  Config config;
  config.server = "https://" + host + ":" + port;
  config.authority.file = std::string(kAccount) + "/ca.crt";
  config.token.file = std::string(kAccount) + "/token";
  if (auto space = Read({"", std::string(kAccount) + "/namespace"})) config.space = *space;
  return config;
}

}  // namespace

Result<std::string> Read(const Source& source) {
  if (source.file.empty()) return source.data;
  std::ifstream file(source.file, std::ios::binary);
  if (!file) return Invalid(source.file + ": cannot be read");
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<Config> LoadConfig(const ConfigChoice& choice) {
  std::vector<std::string> paths;
  bool asked = !choice.kubeconfig.empty();
  if (asked) {
    paths = {choice.kubeconfig};
  } else {
    paths = PathsOf(Environment("KUBECONFIG"));
    asked = !paths.empty();
    if (!asked) paths = {Environment("HOME") + "/.kube/config"};
  }
  std::vector<KubeconfigText> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) continue;
    Result<std::string> text = Read({"", path});
    if (!text) return text.error();
    const std::string folder = std::filesystem::absolute(path).parent_path().string();
    files.push_back({path, folder, *std::move(text)});
  }
  if (!files.empty()) return ParseKubeconfig(files, choice.context);
  if (asked) return Invalid(paths.front() + ": there is no such kubeconfig");
  return OwnAccount();
}

}  // namespace weft::kube
