#include "operator/kube/kubeconfig.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/json_member.h"
#include "operator/kube/base64.h"
#include "operator/manifest/reader.h"

namespace weft::kube {
namespace {

using Json = nlohmann::json;

// An entry of clusters, contexts or users, with the file that it comes from.
struct Entry {
  Json value;
  const KubeconfigText* file = nullptr;

  std::string Place(const std::string& field) const { return file->name + ": " + field; }
  std::string Text(const char* key) const { return api::TextAt(value, key); }
};

class Merged {
 public:
  Status Add(const KubeconfigText& file) {
    Result<Json> document = manifest::ReadDocument({file.name, file.text});
    if (!document) return document.error();
    if (!document->is_object()) return Invalid(file.name + ": is not a kubeconfig");
    if (current_.empty()) current_ = document->value("current-context", "");
    for (const char* list : {"clusters", "contexts", "users"}) {
      const auto entries = document->find(list);
      if (entries == document->end() || entries->is_null()) continue;
      if (!entries->is_array()) return Invalid(file.name + ": " + list + ": must be a list");
      for (const Json& entry : *entries) Take(list, entry, file);
    }
    return {};
  }

  const std::string& current() const { return current_; }
  const Entry* Find(const std::string& list, const std::string& name) const {
    const auto found = entries_.find({list, name});
    return found == entries_.end() ? nullptr : &found->second;
  }

 private:
  void Take(const std::string& list, const Json& entry, const KubeconfigText& file) {
    if (!entry.is_object()) return;
    const auto value = entry.find(list.substr(0, list.size() - 1));
    if (value == entry.end() || !value->is_object()) return;
    entries_.try_emplace({list, entry.value("name", "")}, Entry{*value, &file});
  }

  std::string current_;
  std::map<std::pair<std::string, std::string>, Entry> entries_;
};

// The decoded `key`-data, or the file `key`, relative to the kubeconfig's folder.
Result<Source> SourceOf(const Entry& entry, const std::string& key) {
  Source source;
  if (const std::string data = entry.Text((key + "-data").c_str()); !data.empty()) {
    auto decoded = DecodeBase64(data);
    if (!decoded) return Invalid(entry.Place(key + "-data: is not base64"));
    source.data = *std::move(decoded);
    return source;
  }
  source.file = entry.Text(key.c_str());
  if (!source.file.empty() && source.file.front() != '/') {
    source.file = entry.file->folder + "/" + source.file;
  }
  return source;
}

Status TakeCluster(const Entry& cluster, Config& config) {
  config.server = cluster.Text("server");
  const bool https = config.server.starts_with("https://");
  if (!https && !config.server.starts_with("http://")) {
    return Invalid(cluster.Place("cluster.server: must be an http or https address"));
  }
  if (!cluster.Text("tls-server-name").empty()) {
    return Invalid(
        cluster.Place("cluster.tls-server-name: is not supported; the certificate must "
                      "name the host of cluster.server"));
  }
  config.proxy = cluster.Text("proxy-url");
  config.insecure = cluster.value.value("insecure-skip-tls-verify", false);
  Result<Source> authority = SourceOf(cluster, "certificate-authority");
  if (!authority) return authority.error();
  config.authority = *std::move(authority);
  return {};
}

Status TakeExec(const Entry& user, const Json& exec, Config& config) {
  ExecPlugin& plugin = config.exec;
  plugin.api_version = exec.value("apiVersion", "");
  const std::string prefix = "client.authentication.k8s.io/";
  if (plugin.api_version != prefix + "v1" && plugin.api_version != prefix + "v1beta1") {
    return Invalid(user.Place("user.exec.apiVersion: must be " + prefix + "v1 or v1beta1"));
  }
  plugin.command = exec.value("command", "");
  if (plugin.command.empty()) return Invalid(user.Place("user.exec.command: is required"));
  if (plugin.command.find('/') != std::string::npos && plugin.command.front() != '/') {
    plugin.command = user.file->folder + "/" + plugin.command;
  }
  plugin.install_hint = exec.value("installHint", "");
  for (const Json& argument : exec.value("args", Json::array())) {
    if (argument.is_string()) plugin.arguments.push_back(argument.get<std::string>());
  }
  const auto env = exec.find("env");
  if (env == exec.end() || !env->is_array()) return {};
  for (const Json& one : *env) {
    plugin.environment.emplace_back(one.value("name", ""), one.value("value", ""));
  }
  return {};
}

Status TakeUser(const Entry& user, Config& config) {
  for (const char* gone : {"auth-provider", "username", "password"}) {
    if (user.value.contains(gone)) {
      return Invalid(user.Place(std::string("user.") + gone +
                                ": is no longer part of Kubernetes; use exec, a token or a client "
                                "certificate"));
    }
  }
  Result<Source> certificate = SourceOf(user, "client-certificate");
  if (!certificate) return certificate.error();
  Result<Source> key = SourceOf(user, "client-key");
  if (!key) return key.error();
  config.certificate = *std::move(certificate);
  config.key = *std::move(key);
  if (config.certificate.empty() != config.key.empty()) {
    return Invalid(user.Place("user: a client certificate and its key go together"));
  }
  config.token.file = user.Text("tokenFile");
  if (config.token.file.empty()) config.token.data = user.Text("token");
  config.impersonate = user.Text("as");
  for (const Json& group : user.value.value("as-groups", Json::array())) {
    if (group.is_string()) config.impersonate_groups.push_back(group.get<std::string>());
  }
  const auto exec = user.value.find("exec");
  if (exec == user.value.end() || !exec->is_object()) return {};
  return TakeExec(user, *exec, config);
}

}  // namespace

Result<Config> ParseKubeconfig(const std::vector<KubeconfigText>& files,
                               const std::string& context) {
  Merged merged;
  for (const KubeconfigText& file : files) {
    if (Status added = merged.Add(file); !added) return added.error();
  }
  const std::string where = files.empty() ? "kubeconfig" : files.front().name;
  const std::string name = context.empty() ? merged.current() : context;
  if (name.empty()) {
    return Invalid(where + ": current-context: is not set; name a context with --context");
  }
  const Entry* chosen = merged.Find("contexts", name);
  if (chosen == nullptr) return Invalid(where + ": there is no context \"" + name + "\"");
  const Entry* cluster = merged.Find("clusters", chosen->Text("cluster"));
  if (cluster == nullptr) {
    return Invalid(chosen->Place("context \"" + name + "\": there is no cluster \"" +
                                 chosen->Text("cluster") + "\""));
  }
  Config config;
  config.space = chosen->Text("namespace");
  if (Status taken = TakeCluster(*cluster, config); !taken) return taken.error();
  const std::string user_name = chosen->Text("user");
  if (user_name.empty()) return config;
  const Entry* user = merged.Find("users", user_name);
  if (user == nullptr) {
    return Invalid(
        chosen->Place("context \"" + name + "\": there is no user \"" + user_name + "\""));
  }
  if (Status taken = TakeUser(*user, config); !taken) return taken.error();
  return config;
}

}  // namespace weft::kube
