#include "operator/kube/http_transport.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "operator/kube/lease_keeper.h"

namespace weft::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A server of this process on a free port of the loopback, one thread; each connection gets the
// next script.
class ScriptedServer {
 public:
  // Reads requests from the connection and writes answers.
  using Script = std::function<void(int connection)>;

  explicit ScriptedServer(std::vector<Script> scripts) : scripts_(std::move(scripts)) {
    listener_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    EXPECT_EQ(bind(listener_, any, size), 0);
    EXPECT_EQ(listen(listener_, 16), 0);
    EXPECT_EQ(getsockname(listener_, any, &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~ScriptedServer() {
    shutdown(listener_, SHUT_RDWR);
    if (thread_.joinable()) thread_.join();
    close(listener_);
  }
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  // Waits until all scripts have been played.
  void Join() { thread_.join(); }

  // Whether a connection beyond those accepted comes within `time`.
  bool AnotherConnects(milliseconds time) const {
    pollfd waiting{listener_, POLLIN, 0};
    return poll(&waiting, 1, static_cast<int>(time.count())) == 1;
  }

  std::string Url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // Up to the empty line; "" at the end of the connection.
  static std::string ReadHead(int connection) {
    std::string head;
    for (char byte = 0; !head.ends_with("\r\n\r\n");) {
      if (recv(connection, &byte, 1, 0) != 1) return "";
      head += byte;
    }
    return head;
  }
  static void Write(int connection, const std::string& text) {
    EXPECT_EQ(send(connection, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  static void WaitForEnd(int connection) {
    for (char byte = 0; recv(connection, &byte, 1, 0) > 0;) {
    }
  }

 private:
  void Serve() {
    for (const Script& script : scripts_) {
      const int connection = accept(listener_, nullptr, nullptr);
      if (connection < 0) return;
      script(connection);
      close(connection);
    }
  }

  const std::vector<Script> scripts_;
  int listener_ = -1;
  int port_ = 0;
  std::thread thread_;
};

std::string Answer(const std::string& status, const std::string& body,
                   const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
         headers + "\r\n" + body;
}

// Answers one request and keeps what was asked.
ScriptedServer::Script Once(const std::string& answer, std::string* asked = nullptr) {
  return [answer, asked](int connection) {
    const std::string head = ScriptedServer::ReadHead(connection);
    if (asked != nullptr) *asked = head;
    ScriptedServer::Write(connection, answer);
  };
}

// As many as in the operator; the library's pool is one for the whole process.
constexpr std::size_t kThreads = 4;
[[maybe_unused]] const bool kThreadsAreSet = (UseThreads(kThreads), true);

// As send, until all is there or the client has gone.
void WriteAll(int connection, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = send(connection, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

// Sends without end, until the client goes.
void Flood(int connection) {
  ScriptedServer::ReadHead(connection);
  ScriptedServer::Write(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
  const std::string piece(std::size_t{1} << 20, 'x');
  while (send(connection, piece.data(), piece.size(), MSG_NOSIGNAL) > 0) {
  }
}

// Answers one request as an API server without a Lease at first, and counts renewals.
void ServeLease(int connection, std::counting_semaphore<>& renewed) {
  const std::string close = "Connection: close\r\n";
  const std::string head = ScriptedServer::ReadHead(connection);
  if (head.starts_with("GET ")) {
    return ScriptedServer::Write(connection, Answer("404 Not Found", "{}", close));
  }
  const std::string length = "Content-Length:";
  std::string body(std::stoul(head.substr(head.find(length) + length.size())), ' ');
  if (recv(connection, body.data(), body.size(), MSG_WAITALL) <= 0) return;
  nlohmann::json lease = nlohmann::json::parse(body);
  lease["metadata"]["resourceVersion"] = "1";
  if (head.starts_with("PUT ")) renewed.release();
  ScriptedServer::Write(connection, Answer("200 OK", lease.dump(), close));
}

std::unique_ptr<Transport> TransportTo(const std::string& url, const Source& token = {}) {
  Config config;
  config.server = url;
  config.token = token;
  return MakeHttpTransport(std::move(config), "weft-test");
}

Request Get(const std::string& path) {
  Request request;
  request.path = path;
  request.timeout = seconds(20);
  return request;
}

TEST(HttpTransportTest, ARequestCarriesPathQueryAgentAndToken) {
  std::string asked;
  ScriptedServer server({Once(Answer("200 OK", "{}", "Connection: close\r\n"), &asked)});
  const auto transport = TransportTo(server.Url(), {.data = "t0ken", .file = ""});
  Request request = Get("/api/v1/pods");
  request.query = {{"labelSelector", "a=b,c"}};
  const auto answer = transport->Send(request);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "{}");
  EXPECT_TRUE(asked.starts_with("GET /api/v1/pods?labelSelector=a%3Db%2Cc HTTP/1.1\r\n")) << asked;
  EXPECT_NE(asked.find("weft-test\r\n"), std::string::npos);
  EXPECT_NE(asked.find("Bearer t0ken\r\n"), std::string::npos);
}

TEST(HttpTransportTest, TellsTheDatesOfSuccessfulAnswers) {
  const std::string close = "Connection: close\r\n",
                    date = "Date: Sun, 29 Nov 2026 22:11:02 GMT\r\n";
  ScriptedServer server({Once(Answer("200 OK", "{}", close + date)),
                         Once(Answer("502 Bad Gateway", "{}", close + date)),
                         Once(Answer("200 OK", "{}", close + "Date: yesterday\r\n")),
                         Once(Answer("200 OK", "{}", close))});
  Config config;
  config.server = server.Url();
  std::vector<UnixSeconds> heard;
  const auto transport = MakeHttpTransport(std::move(config), "weft-test", 1,
                                           [&](UnixSeconds date_of) { heard.push_back(date_of); });
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(transport->Send(Get("/version")));
  EXPECT_EQ(heard, std::vector<UnixSeconds>{*ParseTime("2026-11-29T22:11:02Z")});
}

// With one request allowed the second comes only when the first is answered; with two, at once.
TEST(HttpTransportTest, NoMoreRequestsThanAllowedAreUnderWay) {
  for (const std::size_t most : {1U, 2U}) {
    bool another = false;
    ScriptedServer* self = nullptr;
    const std::string answer = Answer("200 OK", "", "Connection: close\r\n");
    ScriptedServer server({[&](int connection) {
                             ScriptedServer::ReadHead(connection);
                             another =
                                 self->AnotherConnects(milliseconds(most == 2 ? 60'000 : 300));
                             ScriptedServer::Write(connection, answer);
                           },
                           Once(answer)});
    self = &server;
    Config config;
    config.server = server.Url();
    const auto transport = MakeHttpTransport(std::move(config), "weft-test", most);
    std::thread second([&] { EXPECT_TRUE(transport->Send(Get("/b"))); });
    EXPECT_TRUE(transport->Send(Get("/a")));
    second.join();
    EXPECT_EQ(another, most == 2);
  }
}

// The lead ends while the first request is under way and the second waits for its slot.
TEST(HttpTransportTest, DropsAWaitingRequestAfterItsDeadline) {
  std::atomic<bool> over = false;
  bool another = true;
  ScriptedServer* self = nullptr;
  ScriptedServer server({[&](int connection) {
    ScriptedServer::ReadHead(connection);
    over = true;
    over.notify_all();
    ScriptedServer::Write(connection, Answer("200 OK", "", "Connection: close\r\n"));
    another = self->AnotherConnects(milliseconds(300));
  }});
  self = &server;
  Config config;
  config.server = server.Url();
  const auto transport = MakeHttpTransport(std::move(config), "weft-test", 1);
  Request late = Get("/late");
  late.until = [&] { return over ? Instant::min() : Instant::max(); };
  std::thread second([&] {
    over.wait(false);
    const auto answer = transport->Send(late);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().message, NotSent().message);
  });
  EXPECT_TRUE(transport->Send(Get("/a")));
  second.join();
  server.Join();
  EXPECT_FALSE(another);
}

TEST(HttpTransportTest, CancelsAnActiveRequestAtItsDeadline) {
  std::atomic<bool> over = false;
  ScriptedServer server({[&](int connection) {
    ScriptedServer::ReadHead(connection);
    over = true;
    ScriptedServer::WaitForEnd(connection);
  }});
  Request late = Get("/late");
  late.timeout = std::chrono::hours(1);
  late.until = [&] { return over ? Instant::min() : Instant::max(); };
  const auto answer = TransportTo(server.Url())->Send(late);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTransient);
  EXPECT_NE(answer.error().message.find("had to stop writing"), std::string::npos)
      << answer.error().message;
}

// More streams than the library has threads, each with a sink that does not return: a busy store.
TEST(HttpTransportTest, SinksThatBlockDoNotCostTheLease) {
  std::counting_semaphore<> blocked(0);
  std::atomic<bool> released = false;
  std::vector<std::unique_ptr<ScriptedServer>> servers;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::thread> readers;
  const Cancel cancel{false};
  for (std::size_t i = 0; i < 2 * kThreads; ++i) {
    servers.push_back(std::make_unique<ScriptedServer>(std::vector{ScriptedServer::Script(Flood)}));
    transports.push_back(TransportTo(servers.back()->Url()));
    readers.emplace_back([&, transport = transports.back().get()] {
      const auto block = [&](std::string_view) {
        blocked.release();
        released.wait(false);
        return false;
      };
      EXPECT_TRUE(transport->Stream(Get("/watch"), block, cancel));
    });
  }
  for (std::size_t i = 0; i < 2 * kThreads; ++i) blocked.acquire();
  std::counting_semaphore<> renewed(0);
  const ScriptedServer::Script serve = [&](int connection) { ServeLease(connection, renewed); };
  ScriptedServer api(std::vector(10'000, serve));
  const auto transport = TransportTo(api.Url());
  LeaseKeeper::Options options;
  options.space = "weft";
  options.name = "weft-operator";
  options.identity = "me";
  options.times.retry = milliseconds(1);
  options.hooks.on_failure = [](const std::string& what) { ADD_FAILURE() << what; };
  LeaseKeeper keeper(*transport, options);
  keeper.Start();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(renewed.try_acquire_for(seconds(90)));
  EXPECT_TRUE(keeper.IsLeader());
  keeper.Stop();
  released = true;
  released.notify_all();
  for (std::thread& reader : readers) reader.join();
}

// 64 MiB, of which the reader takes a first piece and later the rest.
TEST(HttpTransportTest, ASlowSinkHoldsTheServerBackAndMissesNothing) {
  std::atomic<std::size_t> written = 0;
  ScriptedServer server({[&](int connection) {
    ScriptedServer::ReadHead(connection);
    ScriptedServer::Write(connection, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    const std::string piece(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 64; ++i, written += piece.size()) WriteAll(connection, piece);
  }});
  std::size_t read = 0, behind = 0;
  const auto sink = [&](std::string_view chunk) {
    read += chunk.size();
    behind = std::max(behind, written - std::min<std::size_t>(written, read));
    return true;
  };
  const Cancel cancel{false};
  EXPECT_TRUE(TransportTo(server.Url())->Stream(Get("/watch"), sink, cancel));
  EXPECT_EQ(read, std::size_t{64} << 20);
  EXPECT_LT(behind, std::size_t{16} << 20);  // buffers of the sockets, and ours
}

TEST(HttpTransportTest, AnAnswerThatSaysWaitSaysHowLong) {
  ScriptedServer server({Once(Answer("429 Too Many Requests", "slow down", "Retry-After: 7\r\n"))});
  const auto answer = TransportTo(server.Url())->Send(Get("/x"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 429);
  EXPECT_EQ(answer->retry_after, seconds(7));
}

TEST(HttpTransportTest, ATokenThatIsRefusedIsReadAgain) {
  const std::string file = ::testing::TempDir() + "/weft-token-" + std::to_string(getpid());
  std::ofstream(file) << "old";
  std::string second;
  ScriptedServer server({[&](int connection) {
                           ScriptedServer::ReadHead(connection);
                           std::ofstream(file) << "new";
                           ScriptedServer::Write(
                               connection, Answer("401 Unauthorized", "", "Connection: close\r\n"));
                         },
                         Once(Answer("200 OK", "in"), &second)});
  const auto answer = TransportTo(server.Url(), {.data = "", .file = file})->Send(Get("/x"));
  std::remove(file.c_str());
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "in");
  EXPECT_NE(second.find("Bearer new\r\n"), std::string::npos) << second;
}

TEST(HttpTransportTest, AStreamArrivesInPieces) {
  ScriptedServer server({[](int connection) {
    ScriptedServer::ReadHead(connection);
    ScriptedServer::Write(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char* chunk : {"4\r\none\n\r\n", "4\r\ntwo\n\r\n", "0\r\n\r\n"}) {
      ScriptedServer::Write(connection, chunk);
    }
  }});
  std::string body;
  const Cancel cancel{false};
  const auto answer = TransportTo(server.Url())
                          ->Stream(
                              Get("/watch"),
                              [&](std::string_view chunk) {
                                body += chunk;
                                return true;
                              },
                              cancel);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(body, "one\ntwo\n");
  EXPECT_EQ(answer->body, "");
}

// Sends the head and one piece, and then nothing until the client goes.
void FallSilent(int connection) {
  ScriptedServer::ReadHead(connection);
  ScriptedServer::Write(connection,
                        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n");
  ScriptedServer::WaitForEnd(connection);
}

TEST(HttpTransportTest, ASilentStreamIsGivenUp) {
  ScriptedServer server({FallSilent});
  Request request = Get("/watch");
  request.timeout = milliseconds(300);
  const Cancel cancel{false};
  const auto answer = TransportTo(server.Url())
                          ->Stream(
                              request, [](std::string_view) { return true; }, cancel);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTransient);
  EXPECT_NE(answer.error().message.find("silent"), std::string::npos) << answer.error().message;
}

TEST(HttpTransportTest, TheSinkMayEndAStream) {
  ScriptedServer server({FallSilent});
  const Cancel cancel{false};
  int pieces = 0;
  const auto answer = TransportTo(server.Url())
                          ->Stream(
                              Get("/watch"),
                              [&](std::string_view) {
                                ++pieces;
                                return false;
                              },
                              cancel);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(pieces, 1);
}

TEST(HttpTransportTest, AStreamCanBeCancelledFromAnotherThread) {
  ScriptedServer server({FallSilent});
  Cancel cancel{false};
  const auto answer = TransportTo(server.Url())
                          ->Stream(
                              Get("/watch"),
                              [&](std::string_view) {
                                cancel = true;
                                return true;
                              },
                              cancel);
  EXPECT_TRUE(answer) << answer.error().message;
}

TEST(HttpTransportTest, ARefusedStreamHasItsReasonInTheBody) {
  ScriptedServer server({Once(Answer("410 Gone", "too old"))});
  const Cancel cancel{false};
  bool called = false;
  const auto answer =
      TransportTo(server.Url())
          ->Stream(
              Get("/watch"), [&](std::string_view) { return called = true; }, cancel);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 410);
  EXPECT_EQ(answer->body, "too old");
  EXPECT_FALSE(called);
}

TEST(HttpTransportTest, NobodyThereIsATransientError) {
  std::string url;
  {
    const ScriptedServer gone({});
    url = gone.Url();
  }
  const auto answer = TransportTo(url)->Send(Get("/x"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kTransient);
  EXPECT_TRUE(answer.error().message.starts_with(url)) << answer.error().message;
}

TEST(HttpTransportTest, ATokenFileThatIsNotThereIsNamed) {
  const auto answer =
      TransportTo("http://127.0.0.1:1", {.data = "", .file = "/nowhere/token"})->Send(Get("/x"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::kInvalid);
  EXPECT_NE(answer.error().message.find("/nowhere/token"), std::string::npos);
}

}  // namespace
}  // namespace weft::kube
