// The other end of the Client's connection: a socket that takes the place of the system bus and
// answers with bytes that no bus would pass on. Source: D-Bus Specification, "Message Protocol".
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "fuzz/input.hpp"
#include "names.hpp"
#include "rdtd/base/unique_fd.hpp"

namespace rdtd::fuzz {

// A message that the peer sends. Its body need not be of its signature.
struct RawMessage {
  enum class Type : char { method_return = 2, error = 3, signal = 4 };
  Type type = Type::method_return;
  std::string error;   // of an error
  std::string member;  // of a signal
  std::string signature;
  std::string body;
};

class MessageWriter {
 public:
  static std::string write(const RawMessage& message, uint32_t reply_serial) {
    using enum RawMessage::Type;
    MessageWriter fields;
    const bool of_bus = message.member == "NameOwnerChanged";
    if (message.type == signal) {
      fields.add(1, 'o', of_bus ? "/org/freedesktop/DBus" : bus_path);
      fields.add(2, 's', of_bus ? "org.freedesktop.DBus" : bus_interface);
      fields.add(3, 's', message.member);
    } else {
      fields.add_number(5, reply_serial);
    }
    if (message.type == error) fields.add(4, 's', message.error);
    fields.add(7, 's', of_bus ? "org.freedesktop.DBus" : bus_name);
    if (!message.signature.empty()) fields.add(8, 'g', message.signature);

    MessageWriter out;
    out.text_ = {'l', static_cast<char>(message.type), 1, 1};
    out.put(static_cast<uint32_t>(message.body.size()));
    out.put(++last_serial_);
    out.put(static_cast<uint32_t>(fields.text_.size()));
    out.text_ += fields.text_;
    out.align(8);
    return out.text_ + message.body;
  }

 private:
  void align(size_t to) { text_.resize((text_.size() + to - 1) / to * to); }
  void put(uint32_t number) {
    align(4);
    text_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void begin(char code, char type) {
    align(8);
    text_ += {code, 1, type, 0};
  }
  void add_number(char code, uint32_t number) {
    begin(code, 'u');
    put(number);
  }
  void add(char code, char type, const std::string& value) {
    begin(code, type);
    if (type == 'g')
      text_ += static_cast<char>(value.size());
    else
      put(static_cast<uint32_t>(value.size()));
    text_ += value + '\0';
  }

  static inline uint32_t last_serial_ = 0;
  std::string text_;
};

// Serves one connection at a time, on a thread that ends with the process.
class BusPeer {
 public:
  BusPeer() {
    std::string name = "rdtd-fuzz-" + std::to_string(::getpid());
    ::setenv("DBUS_SYSTEM_BUS_ADDRESS", ("unix:abstract=" + name).c_str(), 1);
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    require(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                ::listen(socket_.get(), 4) == 0,
            "there is a socket for the peer");
    std::thread([this] {
      while (true) serve(UniqueFd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)));
    }).detach();
  }

  // The answer to each call but Hello; a signal is sent after Subscribe. Set it before connecting.
  RawMessage message;

 private:
  static constexpr std::string_view begin = "BEGIN\r\n";

  void serve(const UniqueFd& connection) {
    std::string read;
    bool authenticated = false;
    char buffer[4096];
    while (true) {
      const ssize_t size = ::read(connection.get(), buffer, sizeof buffer);
      if (size <= 0) return;
      read.append(buffer, static_cast<size_t>(size));
      if (!authenticated) {
        const size_t end = read.find(begin);
        if (end == std::string::npos) continue;
        send(connection, "DATA\r\nOK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n");
        read.erase(0, end + begin.size());
        authenticated = true;
      }
      while (answer_first(connection, read)) {}
    }
  }

  // Answers the first message and removes it; false if it has not arrived as a whole.
  bool answer_first(const UniqueFd& connection, std::string& read) {
    uint32_t header[4];
    if (read.size() < sizeof header) return false;
    std::memcpy(header, read.data(), sizeof header);
    const size_t size = sizeof header + (header[3] + 7U) / 8 * 8 + header[1];
    if (read.size() < size) return false;
    const std::string call = read.substr(0, size);
    read.erase(0, size);
    answer(connection, call, header[2]);
    return true;
  }

  void answer(const UniqueFd& connection, std::string_view call, uint32_t serial) {
    const auto contains = [&](std::string_view text) { return call.find(text) != call.npos; };
    const RawMessage hello{.signature = "s", .body = std::string("\4\0\0\0:1.1\0", 9)};
    const RawMessage empty;
    const RawMessage failed{.type = RawMessage::Type::error,
                            .error = "org.freedesktop.DBus.Error.Failed"};
    if (contains("Hello")) return send(connection, MessageWriter::write(hello, serial));
    if (message.type != RawMessage::Type::signal) {
      // sd-bus drops a message that is malformed: then the second one ends the call.
      send(connection, MessageWriter::write(message, serial));
      return send(connection, MessageWriter::write(failed, serial));
    }
    send(connection, MessageWriter::write(empty, serial));
    if (!contains("Subscribe")) return;
    send(connection, MessageWriter::write(message, serial));
    (void)::shutdown(connection.get(), SHUT_WR);
  }

  static void send(const UniqueFd& connection, std::string_view text) {
    (void)::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }

  UniqueFd socket_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
};

}  // namespace rdtd::fuzz
