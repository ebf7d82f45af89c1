#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::fabric {

// Runs of letters and digits, in small letters: "nvidia", "h100", "80gb" and "hbm3".
std::vector<std::string> WordsOf(std::string_view text);

// Whether all words of `model`, without those that only name a vendor, are words of the product, or
// make up consecutive words of it when they are joined: "H100", "nvidia-h100" and "H100 80GB" match
// NVIDIA-H100-80GB-HBM3, "RTX4090" matches NVIDIA-GeForce-RTX-4090, but H200 does not match GH200
// and A10 does not match A100. A number of accelerators is no part of a product's word: H100 also
// matches gpu-h100x8 and gx3d-160x1792x8h100.
bool MatchesProduct(std::string_view model, std::string_view product);

// The accelerator of a cloud's instance type: "H100" of p5.48xlarge, "A100-40GB" of a2-highgpu-8g,
// "H100-NVL" of Standard_NC40ads_H100_v5; "" for a type that is not in the table. Also of AMD's PCI
// device number, which its older labellers write: "MI300X" of 74a1.
std::string_view ProductOfInstanceType(std::string_view type);

}  // namespace weft::fabric
