// Asks a running weft-operator where a gang would go, and prints the nodes in worker order.
//
//   plan_client ADDRESS FILE            FILE: a TrainingJob or a Placement, YAML or JSON
//
// Exit codes: 0 placed, 1 the call failed, 2 bad usage or input, 3 something cannot be placed.
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "weft/v1/placement_service.grpc.pb.h"

int main(int count, char** arguments) {
  std::ifstream file(count == 3 ? arguments[2] : "");
  if (!file) {
    std::cerr << "usage: plan_client ADDRESS FILE\n";
    return 2;
  }
  weft::v1::PlanRequest request;
  request.set_manifests(std::string(std::istreambuf_iterator<char>(file), {}));

  const auto channel = grpc::CreateChannel(arguments[1], grpc::InsecureChannelCredentials());
  const auto stub = weft::v1::PlacementService::NewStub(channel);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  weft::v1::PlanResponse response;
  const grpc::Status status = stub->Plan(&context, request, &response);
  if (!status.ok()) {
    std::cerr << "plan_client: " << status.error_message() << "\n";
    return status.error_code() == grpc::StatusCode::INVALID_ARGUMENT ? 2 : 1;
  }

  bool all = true;
  for (const weft::v1::Placement& placement : response.placements()) {
    std::cout << placement.namespace_() << "/" << placement.name() << ":";
    for (const std::string& node : placement.nodes()) std::cout << " " << node;
    if (placement.nodes().empty()) std::cout << " " << placement.message();
    std::cout << "\n";
    all = all && !placement.nodes().empty();
  }
  return all ? 0 : 3;
}
