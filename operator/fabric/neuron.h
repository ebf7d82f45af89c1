#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace weft::fabric {

// The names by which the plug-in of AWS Neuron offers the same devices, whole devices first.
// Source  awsdocs-neuron.readthedocs-hosted.com, containers/kubernetes-getting-started.
inline constexpr std::array<std::string_view, 3> kNeuronNames = {
    "aws.amazon.com/neuron", "aws.amazon.com/neurondevice", "aws.amazon.com/neuroncore"};

inline bool IsNeuronName(std::string_view name) {
  return std::find(kNeuronNames.begin(), kNeuronNames.end(), name) != kNeuronNames.end();
}

}  // namespace weft::fabric
