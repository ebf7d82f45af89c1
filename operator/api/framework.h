#pragma once

#include <cstdint>
#include <string>

namespace weft::api {

enum class FrameworkType : std::uint8_t { kTorch, kDeepSpeed, kMPI, kJAX, kTensorFlow, kCustom };
enum class Rendezvous : std::uint8_t { kStatic, kC10d };
enum class MpiImplementation : std::uint8_t { kOpenMPI, kIntel, kMPICH };

// How a job's ranks are started: spec.framework, with defaults for the member that its type
// names.
struct Framework {
  FrameworkType type = FrameworkType::kCustom;
  Rendezvous rendezvous = Rendezvous::kStatic;  // Torch
  MpiImplementation implementation = MpiImplementation::kOpenMPI;
  std::uint16_t port = 29500;     // of worker 0's rendezvous; TensorFlow: of every worker's server
  std::uint16_t ssh_port = 2222;  // MPI: of every worker's sshd
  std::string ssh_user;           // MPI; "": the user that runs mpirun

  friend bool operator==(const Framework&, const Framework&) = default;
};

}  // namespace weft::api
