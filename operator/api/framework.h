#pragma once

#include <cstdint>
#include <string>

namespace weft::api {

// The port of worker 0's rendezvous where the framework has no port of its own: torchrun's default.
inline constexpr std::uint16_t kRendezvousPort = 29'500;

// The frameworks, a row each. To add one, add its row here and its file in operator/framework/,
// which defines <Name>Traits().
//   name    spec.framework.type; FrameworkType::k<Name>
//   member  of spec.framework, for this type only; "": none
//   port    if the member names none
//   read    what decode_framework.cc reads the member with: ReadPortOnly, or a function of its own
//           for a member that holds more than a port
#define WEFT_FRAMEWORKS(ROW)                                 \
  ROW(Torch, "torch", kRendezvousPort, ReadTorch)            \
  ROW(DeepSpeed, "deepSpeed", kRendezvousPort, ReadPortOnly) \
  ROW(MPI, "mpi", kRendezvousPort, ReadMpi)                  \
  ROW(JAX, "jax", 1'234, ReadPortOnly)                       \
  ROW(TensorFlow, "tensorFlow", 2'222, ReadPortOnly)         \
  ROW(Custom, "", kRendezvousPort, nullptr)

#define WEFT_FRAMEWORK_TYPE(name, ...) k##name,
enum class FrameworkType : std::uint8_t { WEFT_FRAMEWORKS(WEFT_FRAMEWORK_TYPE) };
#undef WEFT_FRAMEWORK_TYPE

enum class Rendezvous : std::uint8_t { kStatic, kC10d };
enum class MpiImplementation : std::uint8_t { kOpenMPI, kIntel, kMPICH };

// How a job's ranks are started: spec.framework, with defaults for the member that its type
// names.
struct Framework {
  FrameworkType type = FrameworkType::kCustom;
  Rendezvous rendezvous = Rendezvous::kStatic;  // Torch
  MpiImplementation implementation = MpiImplementation::kOpenMPI;
  // Of worker 0's rendezvous; TensorFlow: of every worker's server.
  std::uint16_t port = kRendezvousPort;
  std::uint16_t ssh_port = 2222;  // MPI: of every worker's sshd
  std::string ssh_user;           // MPI; "": the user that runs mpirun

  friend bool operator==(const Framework&, const Framework&) = default;
};

}  // namespace weft::api
