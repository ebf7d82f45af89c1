#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>

namespace weft::http {

// A port of the loopback that is free now.
inline std::uint16_t FreePort() {
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(one, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(one, reinterpret_cast<sockaddr*>(&address), &size);
  close(one);
  return ntohs(address.sin_port);
}

// What the server answers to "GET <path>" and these header lines, each ended by "\r\n"; "" where it
// cannot be reached.
inline std::string Get(std::uint16_t port, const std::string& path,
                       const std::string& headers = "") {
  const int one = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  std::string answer;
  if (connect(one, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    const std::string request =
        "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "Connection: close\r\n\r\n";
    if (send(one, request.data(), request.size(), 0) > 0) {
      char part[4096];
      for (ssize_t got = 0; (got = recv(one, part, sizeof part, 0)) > 0;) {
        answer.append(part, static_cast<std::size_t>(got));
      }
    }
  }
  close(one);
  return answer;
}

}  // namespace weft::http
