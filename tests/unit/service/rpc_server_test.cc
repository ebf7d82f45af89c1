#include "operator/service/rpc_server.h"
#include "operator/cluster/build_cluster.h"
#include "operator/manifest/inputs.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "operator/api/decode.h"
#include "weft/v1/placement_service.grpc.pb.h"

namespace weft::service {
namespace {

using grpc::StatusCode;
using Change = v1::WatchPlacementsResponse;

// Two leaves of two nodes of eight GPUs.
api::Inputs Cluster() {
  std::string text;
  for (int n = 0; n < 4; ++n) {
    const std::string name = "n" + std::to_string(n), leaf = "leaf-" + std::to_string(n / 2);
    text += "---\napiVersion: v1\nkind: Node\nmetadata:\n  name: " + name +
            "\n  labels: {leaf: " + leaf + "}\nstatus:\n  allocatable: {nvidia.com/gpu: \"8\"}\n";
  }
  text += R"(---
apiVersion: weft.dev/v1alpha1
kind: Fabric
metadata: {name: default}
spec:
  levels: [{name: leaf, labelKey: leaf, link: {type: InfiniBandNDR}}]
)";
  return *manifest::ReadInputs({{"cluster", text}});
}

std::string Gang(int workers, const std::string& space = "team-a") {
  return "apiVersion: weft.dev/v1alpha1\nkind: Placement\n"
         "metadata: {name: gang, namespace: " +
         space + "}\nspec: {workers: " + std::to_string(workers) +
         ", accelerator: {perWorker: 8}}\n";
}

std::shared_ptr<const api::Placement> Decided(const std::string& name, const std::string& version,
                                              const std::string& space = "team-a") {
  api::Placement placement;
  placement.meta.key = {space, name};
  placement.meta.resource_version = version;
  placement.nodes = {"n0", "n1"};
  return std::make_shared<const api::Placement>(std::move(placement));
}

class World : public RpcSource {
 public:
  bool leads = true;
  std::string epoch = "e1";
  std::shared_ptr<controllers::PlacementLog> log =
      std::make_shared<controllers::PlacementLog>(/*kept=*/4);

  Result<Live> TakeSnapshot() override {
    if (!leads) return Error{ErrorKind::kTransient, "this replica is not the leader"};
    api::Inputs inputs = Cluster();
    auto fabrics = std::make_shared<const cluster::Fabrics>(*cluster::BuildFabrics(inputs));
    return Live{std::move(inputs), std::move(fabrics)};
  }
  Result<service::RpcSource::Decided> Decisions() override {
    if (!leads) return Error{ErrorKind::kTransient, "this replica is not the leader"};
    return RpcSource::Decided{log, epoch};
  }
  // "team-a" may list Placements there, "fleet" everything.
  Result<Access> Check(const Caller& caller, const Sight& sight) override {
    const std::string who = caller.token.empty() ? caller.certificate_name : caller.token;
    if (revoked || (who != "team-a" && who != "fleet")) return Access::kUnknownCaller;
    const bool own = !sight.fabrics && sight.space == "team-a";
    return who == "fleet" || own ? Access::kAllowed : Access::kForbidden;
  }
  std::atomic<bool> revoked = false;
};

class RpcServerTest : public ::testing::Test {
 protected:
  void Serve(RpcOptions options = {}) {
    options.address = "127.0.0.1:0";
    auto server = ServeRpc(options, world_);
    ASSERT_TRUE(server) << server.error().message;
    server_ = *std::move(server);
    stub_ = v1::PlacementService::NewStub(grpc::CreateChannel(
        "127.0.0.1:" + std::to_string(server_->port()), grpc::InsecureChannelCredentials()));
  }
  static void Limit(grpc::ClientContext& context, const std::string& token = "") {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(120));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
  }
  grpc::Status Plan(const std::string& manifests, const std::string& token = "") {
    grpc::ClientContext context;
    Limit(context, token);
    v1::PlanRequest request;
    request.set_manifests(manifests);
    plan_.Clear();
    return stub_->Plan(&context, request, &plan_);
  }
  static RpcOptions RequireToken() {
    RpcOptions options;
    options.require_token = true;
    return options;
  }
  struct Asker {
    std::string token, space;
  };
  // The next so many responses of a stream, in words; then its end where there are fewer.
  std::vector<std::string> Watch(
      const std::string& cursor, std::size_t count,
      const std::function<void()>& when_synced = [] {}, const Asker& asker = {}) {
    grpc::ClientContext context;
    Limit(context, asker.token);
    v1::WatchPlacementsRequest request;
    request.set_cursor(cursor);
    request.set_namespace_(asker.space);
    const auto reader = stub_->WatchPlacements(&context, request);
    std::vector<std::string> told;
    v1::WatchPlacementsResponse response;
    while (told.size() < count && reader->Read(&response)) {
      const std::string& name = response.placement().name();
      told.push_back(response.change() == Change::CHANGE_SYNCED ? "synced"
                     : response.change() == Change::CHANGE_GONE ? name + " gone"
                                                                : name);
      cursor_ = response.cursor();
      if (told.back() == "synced") when_synced();
    }
    if (told.size() < count) told.push_back(reader->Finish().error_message());
    context.TryCancel();
    return told;
  }

  World world_;
  std::unique_ptr<RpcServer> server_;
  std::unique_ptr<v1::PlacementService::Stub> stub_;
  v1::PlanResponse plan_;
  std::string cursor_;
};

using Texts = std::vector<std::string>;

TEST_F(RpcServerTest, AGangIsGivenTheNodesOfOneLeaf) {
  Serve();
  const grpc::Status status = Plan(Gang(2));
  ASSERT_TRUE(status.ok()) << status.error_message();
  ASSERT_EQ(plan_.placements_size(), 1);
  const v1::Placement& placement = plan_.placements(0);
  EXPECT_EQ(placement.name(), "gang");
  EXPECT_EQ(placement.reason(), "Placed");
  EXPECT_EQ(Texts(placement.nodes().begin(), placement.nodes().end()), (Texts{"n0", "n1"}));
  EXPECT_EQ(placement.spans(0).level(), "leaf");
  EXPECT_EQ(placement.spans(0).domains(), 1);
}

TEST_F(RpcServerTest, AGangWithoutRoomIsAnAnswerThatSaysWhy) {
  Serve();
  ASSERT_TRUE(Plan(Gang(5)).ok());
  EXPECT_EQ(plan_.placements(0).nodes_size(), 0);
  EXPECT_EQ(plan_.placements(0).reason(), "InsufficientCapacity");
  EXPECT_NE(plan_.placements(0).message(), "");
}

TEST_F(RpcServerTest, ARequestThatIsWrongNamesThePlace) {
  Serve();
  const grpc::Status status = Plan(Gang(0));
  EXPECT_EQ(status.error_code(), StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message().find("manifests: line 4: document 1: Placement"), 0U)
      << status.error_message();
  EXPECT_EQ(Plan("").error_message(), "manifests: is required");
}

TEST_F(RpcServerTest, AReplicaThatDoesNotLeadIsUnavailable) {
  Serve();
  world_.leads = false;
  EXPECT_EQ(Plan(Gang(2)).error_code(), StatusCode::UNAVAILABLE);
  EXPECT_EQ(Watch("", 1), Texts{"this replica is not the leader"});
}

TEST_F(RpcServerTest, TokensAreCheckedWhereOneIsGivenAndRequiredWhereToldTo) {
  Serve();
  EXPECT_TRUE(Plan(Gang(2)).ok()) << "without certificates this machine is trusted";
  EXPECT_EQ(Plan(Gang(2), "unknown").error_code(), StatusCode::UNAUTHENTICATED);
  Serve(RequireToken());
  EXPECT_EQ(Plan(Gang(2)).error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(Plan(Gang(2), "unknown").error_code(), StatusCode::UNAUTHENTICATED);
  EXPECT_TRUE(Plan(Gang(2), "team-a").ok());
}

TEST_F(RpcServerTest, APlanNeedsTheRightInEveryNamespaceOfItsWorkloads) {
  Serve(RequireToken());
  const std::string both = Gang(2) + "---\n" + Gang(1, "team-b");
  EXPECT_EQ(Plan(both, "team-a").error_message(),
            "the caller may not list Placements in namespace team-b");
  EXPECT_TRUE(Plan(both, "fleet").ok());
  std::string many;
  for (int n = 0; n < 17; ++n) many += "---\n" + Gang(1, "team-" + std::to_string(n));
  EXPECT_EQ(Plan(many, "fleet").error_message(),
            "manifests: must have workloads of at most 16 namespaces, has workloads of 17");
}

TEST_F(RpcServerTest, AnExplanationNeedsTheRightInItsNamespaceAndAFabricAnother) {
  Serve(RequireToken());
  const auto explain = [&](const std::string& space, const std::string& token) {
    grpc::ClientContext context;
    Limit(context, token);
    v1::ExplainRequest request;
    request.set_namespace_(space);
    request.set_name("gang");
    request.set_manifests(Gang(2, space));
    v1::ExplainResponse response;
    return stub_->Explain(&context, request, &response).error_message();
  };
  EXPECT_EQ(explain("team-a", "team-a"), "");
  EXPECT_EQ(explain("team-b", "team-a"), "the caller may not list Placements in namespace team-b");
  const auto fabric = [&](const std::string& token) {
    grpc::ClientContext context;
    Limit(context, token);
    v1::GetFabricResponse response;
    return stub_->GetFabric(&context, {}, &response).error_message();
  };
  EXPECT_EQ(fabric("fleet"), "");
  EXPECT_EQ(fabric("team-a"), "the caller may not list Fabrics");
}

TEST_F(RpcServerTest, AStreamTellsOnlyOfTheNamespaceThatTheCallerMaySee) {
  Serve(RequireToken());
  world_.log->Put(Decided("a", "1"));
  world_.log->Put(Decided("b", "2", "team-b"));
  EXPECT_EQ(Watch("", 2, [] {}, {"team-a", "team-a"}), (Texts{"a", "synced"}));
  EXPECT_EQ(Watch("", 3, [] {}, {"fleet", ""}), (Texts{"a", "b", "synced"}));
  EXPECT_EQ(Watch("", 1, [] {}, {"team-a", ""}),
            Texts{"the caller may not list Placements of all namespaces: name one"});
  EXPECT_EQ(Watch("", 1, [] {}, {"team-a", "team-b"}),
            Texts{"the caller may not list Placements in namespace team-b"});
}

TEST_F(RpcServerTest, AStreamEndsWhenTheCredentialExpires) {
  Serve(RequireToken());
  world_.log->Put(Decided("a", "1"));
  EXPECT_EQ(Watch("", 4, [&] { world_.revoked = true; }, {"team-a", "team-a"}),
            (Texts{"a", "synced", "the API server does not know the token"}));
}

TEST_F(RpcServerTest, AStreamTellsWhatStandsAndThenEveryChangeAndGoesOnFromItsCursor) {
  Serve();
  world_.log->Put(Decided("a", "1"));
  EXPECT_EQ(Watch("", 3, [&] { world_.log->Put(Decided("b", "2")); }), (Texts{"a", "synced", "b"}));
  world_.log->Remove({"team-a", "a"});
  EXPECT_EQ(Watch(cursor_, 2), (Texts{"a gone", "synced"}));
}

TEST_F(RpcServerTest, ACursorThatIsForgottenOrOfAnotherLeaderIsOutOfRange) {
  Serve();
  world_.log->Put(Decided("a", "1"));
  EXPECT_EQ(Watch("", 2), (Texts{"a", "synced"}));
  const std::string cursor = cursor_;
  for (const char* name : {"b", "c", "d", "e", "f"}) {
    world_.log->Put(Decided(name, "2"));
    world_.log->Remove({"team-a", name});
  }
  EXPECT_EQ(Watch(cursor, 1), Texts{"cursor: too old"});
  world_.epoch = "e2";
  EXPECT_EQ(Watch(cursor, 1), Texts{"cursor: is malformed, or comes from another leader"});
}

TEST_F(RpcServerTest, AStreamEndsWhenTheLeadIsLost) {
  Serve();
  world_.log->Put(Decided("a", "1"));
  EXPECT_EQ(Watch("", 4, [&] { world_.leads = false; }),
            (Texts{"a", "synced", "this replica is no longer the leader"}));
}

TEST_F(RpcServerTest, AFabricIsShownWithWhatIsFree) {
  Serve();
  grpc::ClientContext context;
  Limit(context);
  v1::GetFabricRequest request;
  request.set_nodes(true);
  v1::GetFabricResponse response;
  ASSERT_TRUE(stub_->GetFabric(&context, request, &response).ok());
  EXPECT_EQ(response.name(), "default");
  ASSERT_EQ(response.levels_size(), 1);
  const v1::Domain& leaf = response.levels(0).domains(1);
  EXPECT_EQ(leaf.name(), "leaf-1");
  EXPECT_EQ(leaf.free_accelerator_count(), 16);
  EXPECT_EQ(Texts(leaf.nodes().begin(), leaf.nodes().end()), (Texts{"n2", "n3"}));
}

TEST(ServeRpcTest, AnAddressOnTheNetworkNeedsTheFlagAndCertificates) {
  World world;
  const auto refusal = [&](RpcOptions options) {
    options.address = "0.0.0.0:0";
    const auto server = ServeRpc(options, world);
    return server ? "served" : server.error().message;
  };
  RpcOptions options;
  EXPECT_EQ(refusal(options),
            "0.0.0.0:0: other machines can reach this address; use a loopback address, or allow it "
            "with --grpc-network");
  options.network = true;
  EXPECT_EQ(refusal(options),
            "0.0.0.0:0: other machines can reach this address; give certificates");
  options.certificate = "/absent.pem";
  EXPECT_EQ(refusal(options), "/absent.pem: cannot be read");
}

}  // namespace
}  // namespace weft::service
