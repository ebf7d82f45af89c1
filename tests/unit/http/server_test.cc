#include "operator/http/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "operator/http/probes.h"
#include "operator/kube/http_transport.h"
#include "tests/unit/http/client.h"

namespace weft::http {
namespace {

// As many as in the operator; the library's pool is one for the whole process.
constexpr std::size_t kThreads = 4;
[[maybe_unused]] const bool kThreadsAreSet = (kube::UseThreads(kThreads), true);

ServerOptions At(std::uint16_t port) {
  ServerOptions options;
  options.address = "127.0.0.1:" + std::to_string(port);
  return options;
}

bool Is(const std::string& answer, int status, const std::string& body) {
  return answer.starts_with("HTTP/1.1 " + std::to_string(status) + " ") &&
         answer.ends_with("\r\n\r\n" + body);
}

TEST(HttpServerTest, ProbesSayWhatIsWrong) {
  const std::uint16_t port = FreePort();
  ServerOptions options = At(port);
  AddProbes([] { return Health{}; }, [] { return Health{false, "reading the cluster"}; }, options);
  const auto server = Serve(std::move(options));
  ASSERT_TRUE(server);
  EXPECT_TRUE(Is(Get(port, "/healthz"), 200, "ok\n"));
  EXPECT_TRUE(Is(Get(port, "/readyz"), 503, "reading the cluster\n"));
  EXPECT_TRUE(Is(Get(port, "/"), 404, "not found; try /healthz /readyz\n"));
}

// As when a first list is long and the store is busy: of more watches than the library has threads
// no sink returns.
TEST(HttpServerTest, AProbeIsAnsweredWhileTheWatchesAreBusy) {
  constexpr std::size_t kWatches = 2 * kThreads;
  const std::uint16_t port = FreePort();
  ServerOptions options = At(port);
  AddProbes([] { return Health{}; }, [] { return Health{}; }, options);
  options.quick["/watch"] = [](const Request&) {
    return Reply{200, std::string(std::size_t{4} << 20, 'x')};
  };
  const auto server = Serve(std::move(options));
  ASSERT_TRUE(server);
  kube::Config config;
  config.server = "http://127.0.0.1:" + std::to_string(port);
  const auto transport = kube::MakeHttpTransport(config, "weft-test");
  std::counting_semaphore<> blocked(0);
  std::atomic<bool> released = false;
  const kube::Cancel cancel{false};
  std::vector<std::jthread> readers;
  for (std::size_t i = 0; i < kWatches; ++i) {
    readers.emplace_back([&] {
      kube::Request request;
      request.path = "/watch";
      const auto block = [&](std::string_view) {
        blocked.release();
        released.wait(false);
        return false;
      };
      EXPECT_TRUE(transport->Stream(request, block, cancel));
    });
  }
  for (std::size_t i = 0; i < kWatches; ++i) blocked.acquire();
  EXPECT_TRUE(Is(Get(port, "/healthz"), 200, "ok\n"));
  released = true;
  released.notify_all();
}

TEST(HttpServerTest, AHandlerSeesPathQueryAndToken) {
  const std::uint16_t port = FreePort();
  ServerOptions options = At(port);
  options.slow["/a"] = [](const Request& request) {
    std::string text = request.path + " " + request.bearer;
    for (const auto& [key, value] : request.query) text += " " + key + "=" + value;
    return Reply{200, text};
  };
  const auto server = Serve(std::move(options));
  ASSERT_TRUE(server);
  const std::string answer = Get(port, "/a?x=1%202&y=z", "Authorization: Bearer secret\r\n");
  EXPECT_TRUE(Is(answer, 200, "/a secret x=1 2 y=z")) << answer;
}

TEST(HttpServerTest, AQuickAnswerDoesNotWaitForASlowOne) {
  const std::uint16_t port = FreePort();
  ServerOptions options = At(port);
  options.most_waiting = 1;
  std::promise<void> begun, end;
  std::shared_future<void> ended = end.get_future().share();
  options.slow["/slow"] = [&, ended](const Request&) {
    begun.set_value();
    ended.wait();
    return Reply{200, "done"};
  };
  options.slow["/next"] = [](const Request&) { return Reply{200, "next"}; };
  options.quick["/quick"] = [](const Request&) { return Reply{200, "quick"}; };
  const auto server = Serve(std::move(options));
  ASSERT_TRUE(server);
  auto slow = std::async(std::launch::async, [&] { return Get(port, "/slow"); });
  begun.get_future().wait();
  EXPECT_TRUE(Is(Get(port, "/quick"), 200, "quick"));
  // One may wait; of two that come together one is turned away.
  auto first = std::async(std::launch::async, [&] { return Get(port, "/next"); });
  auto second = std::async(std::launch::async, [&] { return Get(port, "/next"); });
  while (first.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready &&
         second.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
  }
  end.set_value();
  EXPECT_TRUE(Is(slow.get(), 200, "done"));
  const std::string both = first.get() + second.get();
  EXPECT_NE(both.find("503"), std::string::npos) << both;
  EXPECT_NE(both.find("next"), std::string::npos) << both;
}

TEST(HttpServerTest, APortThatIsTakenIsNamed) {
  const std::uint16_t port = FreePort();
  const auto server = Serve(At(port));
  ASSERT_TRUE(server);
  const auto second = Serve(At(port));
  ASSERT_FALSE(second);
  EXPECT_TRUE(
      second.error().message.starts_with("cannot listen on 127.0.0.1:" + std::to_string(port)))
      << second.error().message;
}

TEST(HttpServerTest, ThePortIsFreeAgainAfterwards) {
  const std::uint16_t port = FreePort();
  for (int i = 0; i < 3; ++i) {
    ServerOptions options = At(port);
    options.slow["/a"] = [](const Request&) { return Reply{200, "a"}; };
    const auto server = Serve(std::move(options));
    ASSERT_TRUE(server) << server.error().message;
    EXPECT_TRUE(Is(Get(port, "/a"), 200, "a"));
  }
}

TEST(HttpServerTest, KnowsWhichAddressesOnlyThisMachineReaches) {
  for (const char* address : {"127.0.0.1:1", "127.1.2.3:80", "localhost:1", "[::1]:1"}) {
    EXPECT_TRUE(IsLoopback(address)) << address;
  }
  for (const char* address : {":8443", "0.0.0.0:1", "10.0.0.1:1", "[::]:1", "localhost.evil:1"}) {
    EXPECT_FALSE(IsLoopback(address)) << address;
  }
}

}  // namespace
}  // namespace weft::http
