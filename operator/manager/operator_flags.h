#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::manager {

// Settings of weft-operator, from flags or from the file of --config with the same names.
struct OperatorFlags {
  std::string kubeconfig, context;
  std::string space;  // "": every namespace
  bool leader_elect = true;
  bool read_only = false;
  std::string lease_namespace;  // "": the pod's own, else weft-system
  std::string identity;         // "": host name and a random number
  std::int64_t bind_deadline_seconds = 60;
  std::int64_t node_loss_seconds = 60;
  std::int64_t node_news_seconds = 75;
  std::int64_t reserve_after_seconds = 600;
  bool pod_groups = true;
  bool kueue = false;
  std::int64_t kueue_hold_seconds = 600;
  std::string accelerator_resources;  // separated by commas
  std::string prices;                 // "" none: no costs are shown
  std::string prometheus;             // URL; "" none: no step is measured by a metric
  std::string prometheus_token_file, prometheus_certificate_authority;
  std::uint32_t workers = 8;
  std::string verify_image;  // "": no init container
  std::uint32_t writes_at_once = 16;
  double requests_per_second = 500;
  std::string probe_address = "127.0.0.1:8081";  // "": none
  std::string grpc_address = "127.0.0.1:8082";   // "": none
  std::string grpc_certificate, grpc_key, grpc_client_ca;
  bool grpc_network = false;
  bool grpc_require_token = false;
  std::string metrics_address;            // "": at probe_address, if that is loopback
  std::string metrics_security = "auto";  // auto, tls, none
  std::string metrics_cert_dir;           // "": uses metrics_secret
  std::string metrics_secret;             // "": each replica signs its own
  std::string log_level = "info";
  std::string log_format = "text";
};

// The names in accelerator_resources.
std::vector<std::string> AcceleratorResourcesOf(const OperatorFlags& flags);

// Either flags, or the exit code and the text to print (help, version or an error).
struct ParsedFlags {
  std::optional<OperatorFlags> flags;
  int exit_code = 0;
  std::string text;
};
ParsedFlags ParseOperatorFlags(const std::vector<std::string>& arguments);

// "--bind-deadline=60 --leader-elect=true ...": all settings in use, for the log.
std::string ShowFlags(const OperatorFlags& flags);

}  // namespace weft::manager
