// What rdtctl reads from D-Bus: replies, errors and signals of any type and with any body, as
// sd-bus passes them on. tests/vm/bus_fuzz.cpp does the same to the daemon.
//
// The input: a byte that selects the call or the signal, the signature up to a NUL, the body.
#include "fuzz/bus_peer.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/bus/client.hpp"

using namespace rdtd;

namespace {

constexpr std::array<const char*, 4> signals = {"TaskAssigned", "DriftDetected", "Reloaded",
                                                "NameOwnerChanged"};
constexpr std::array<const char*, 4> errors = {
    "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NoReply",
    RDTD_BUS_NAME ".Error.NotPermitted", RDTD_BUS_NAME ".Error.Busy"};
constexpr unsigned methods = 7;

void check(const auto& answer) {
  if (!answer) fuzz::require(!answer.error().text.empty(), "every failure has a text");
}

void call(Client& client, unsigned method) {
  switch (method) {
    case 0: return check(client.plan());
    case 1: return check(client.explain(1));
    case 2: return check(client.list_groups());
    case 3: return check(client.properties());
    case 4: return check(client.list_rules());
    case 5: return check(client.adopt({"redis"}));
    case 6: return check(client.list_locks());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static auto& peer = *new fuzz::BusPeer;
  fuzz::Choices choices(data, size);
  unsigned choice = choices.below(methods + errors.size() + signals.size());
  std::string_view text = fuzz::text_of(data, size).substr(std::min<size_t>(size, 1));
  peer.message = {};
  peer.message.signature = fuzz::pop_part(text, std::string_view("\0", 1)).substr(0, 255);
  peer.message.body = text;
  if (choice >= methods + errors.size()) {
    peer.message.type = fuzz::RawMessage::Type::signal;
    peer.message.member = signals[choice - methods - errors.size()];
  } else if (choice >= methods) {
    peer.message.type = fuzz::RawMessage::Type::error;
    peer.message.error = errors[choice - methods];
  }
  auto client = Client::connect();
  if (!client) return 0;
  if (peer.message.type == fuzz::RawMessage::Type::signal)
    check(client->follow([](const Client::Event&) { return true; }));
  else
    call(*client, choice % methods);
  return 0;
}
