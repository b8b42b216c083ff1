// bus-fuzz SEED COUNT: sends COUNT messages to the daemon on the system bus: every method of every
// interface that it serves, with arguments of random types and values, and sometimes with the right
// ones. Each must be answered, whatever the answer: prints "answered N of COUNT". Reset is left
// out, since it would remove the groups.
//
// bus-fuzz --flood COUNT: sends COUNT calls of Plan that expect no reply, and prints "sent COUNT".
//
// bus-fuzz --paths COUNT: sends COUNT calls of Reload, with paths of 64 KB, that expect no reply,
// and prints "sent COUNT".
//
// bus-fuzz --large COUNT: sends COUNT calls of Lease with texts of 4 MiB from each of 40
// connections; bus-fuzz --descriptors COUNT: COUNT calls with 16 descriptors. None expects a reply.
#include <systemd/sd-bus.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace {

struct Method {
  const char* path;  // null: longest_path()
  const char* interface;
  const char* member;
  const char* types;  // of D-Bus; S: an array of strings
};

constexpr const char* manager = RDTD_BUS_NAME ".Manager";
constexpr std::array methods = {
    Method{"/org/rdtd1", manager, "Reload", ""},
    Method{"/org/rdtd1", manager, "Check", ""},
    Method{"/org/rdtd1", manager, "Plan", ""},
    Method{"/org/rdtd1", manager, "Assign", "us"},
    Method{"/org/rdtd1", manager, "Adopt", "S"},
    Method{"/org/rdtd1", manager, "Explain", "u"},
    Method{"/org/rdtd1", manager, "ListGroups", ""},
    Method{"/org/rdtd1", manager, "ListRules", ""},
    Method{"/org/rdtd1", manager, "ListLocks", ""},
    Method{"/org/rdtd1", manager, "Lease", "ss"},
    Method{"/org/rdtd1", manager, "ListLeases", ""},
    Method{"/org/rdtd1", manager, "GetCounters", ""},
    Method{"/org/rdtd1", manager, "Subscribe", ""},
    Method{"/org/rdtd1", manager, "Unsubscribe", ""},
    Method{"/org/rdtd1", manager, "Nonsense", "s"},
    Method{"/org/rdtd1", "org.freedesktop.DBus.Properties", "Get", "ss"},
    Method{"/org/rdtd1", "org.freedesktop.DBus.Properties", "GetAll", "s"},
    Method{"/org/rdtd1", "org.freedesktop.DBus.Properties", "Set", "ssv"},
    Method{"/org/rdtd1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", ""},
    Method{"/org/rdtd1/group/kept", "org.freedesktop.DBus.Properties", "GetAll", "s"},
    Method{"/org/rdtd1/group/kept", "org.freedesktop.DBus.Introspectable", "Introspect", ""},
    Method{"/org/rdtd1/group/_", "org.freedesktop.DBus.Properties", "GetAll", "s"},
    Method{"/org/freedesktop/LogControl1", "org.freedesktop.DBus.Properties", "GetAll", "s"},
    Method{nullptr, "org.freedesktop.DBus.Properties", "GetAll", "s"},
};

// As long and as deep as the bus permits.
std::string longest_path() {
  std::string path;
  while (path.size() < 65'000) path += "/a";
  return path;
}

class Fuzz {
 public:
  Fuzz(sd_bus* bus, unsigned seed) : bus_(bus), random_(seed) {}

  // Whether an answer came, whatever it is.
  bool send() {
    const Method& method = methods[below(methods.size())];
    sd_bus_message* call = nullptr;
    const std::string path = method.path != nullptr ? method.path : longest_path();
    if (sd_bus_message_new_method_call(bus_, &call, RDTD_BUS_NAME, path.c_str(), method.interface,
                                       method.member) < 0)
      std::abort();
    const std::string types = below(2) == 0 ? method.types : random_types();
    for (const char type : types) append(call, type);
    sd_bus_error error = SD_BUS_ERROR_NULL;
    sd_bus_message* reply = nullptr;
    const int r = sd_bus_call(bus_, call, 60'000'000, &error, &reply);
    const bool lost = r < 0 && (sd_bus_error_has_name(&error, SD_BUS_ERROR_NO_REPLY) != 0 ||
                                sd_bus_error_has_name(&error, SD_BUS_ERROR_SERVICE_UNKNOWN) != 0 ||
                                sd_bus_error_has_name(&error, SD_BUS_ERROR_DISCONNECTED) != 0);
    if (lost)
      std::printf("%s.%s(%s): %s\n", method.interface, method.member, types.c_str(), error.message);
    sd_bus_error_free(&error);
    sd_bus_message_unref(reply);
    sd_bus_message_unref(call);
    return !lost;
  }

 private:
  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }

  std::string random_types() {
    std::string types;
    for (size_t n = below(6); n > 0; n--) types += "ybnqiuxtdsogvS"[below(14)];
    return types;
  }

  std::string random_text() {
    static constexpr std::array known = {
        "",         "kept", "default",  "../kept", "org.rdtd1.Manager", "org.rdtd1.Group", "State",
        "LogLevel", "info", "mon_data", ".",       "\033[2J\r\n",       "%s%n%d"};
    if (below(2) == 0) return known[below(known.size())];
    std::string text;
    for (size_t n = below(below(8) == 0 ? 70000 : 40); n > 0; n--)
      text += static_cast<char>(1 + below(126));
    return text;
  }

  void append(sd_bus_message* call, char type) {
    uint64_t number = random_();
    if (below(3) == 0) number = below(3000);
    if (type == 'b') number &= 1;
    const std::string text = random_text();
    switch (type) {
      case 's': (void)sd_bus_message_append_basic(call, 's', text.c_str()); break;
      case 'o': (void)sd_bus_message_append_basic(call, 'o', "/org/rdtd1/group/kept"); break;
      case 'g': (void)sd_bus_message_append_basic(call, 'g', "a{sv}"); break;
      case 'S': append_list(call, text); break;
      case 'v': (void)sd_bus_message_append(call, "v", "s", text.c_str()); break;
      default: (void)sd_bus_message_append_basic(call, type, &number);
    }
  }

  void append_list(sd_bus_message* call, const std::string& text) {
    (void)sd_bus_message_open_container(call, 'a', "s");
    for (size_t n = below(below(8) == 0 ? 1000 : 4); n > 0; n--)
      (void)sd_bus_message_append_basic(call, 's', text.c_str());
    (void)sd_bus_message_close_container(call);
  }

  sd_bus* bus_;
  std::mt19937_64 random_;
};

int flood(sd_bus* bus, const std::string& path, const char* member, int count) {
  for (int i = 0; i < count; i++) {
    sd_bus_message* call = nullptr;
    if (sd_bus_message_new_method_call(bus, &call, RDTD_BUS_NAME, path.c_str(), manager, member) <
            0 ||
        sd_bus_message_set_expect_reply(call, 0) < 0 || sd_bus_send(bus, call, nullptr) < 0)
      return 1;
    sd_bus_message_unref(call);
  }
  sd_bus_flush_close_unref(bus);
  std::printf("sent %d\n", count);
  return 0;
}

sd_bus_message* call_of(sd_bus* bus, const char* member) {
  sd_bus_message* call = nullptr;
  if (sd_bus_message_new_method_call(bus, &call, RDTD_BUS_NAME, "/org/rdtd1", manager, member) <
          0 ||
      sd_bus_message_set_expect_reply(call, 0) < 0)
    std::abort();
  return call;
}

int send_large(int count) {
  const std::string text(4 << 20, '#');
  std::array<sd_bus*, 40> connections{};
  for (sd_bus*& bus : connections)
    if (sd_bus_open_system(&bus) < 0) return 1;
  for (int i = 0; i < count; i++)
    for (sd_bus* bus : connections) {
      sd_bus_message* call = call_of(bus, "Lease");
      (void)sd_bus_message_append(call, "ss", "large", text.c_str());
      (void)sd_bus_send(bus, call, nullptr);
      sd_bus_message_unref(call);
      (void)sd_bus_flush(bus);
    }
  for (sd_bus* bus : connections) sd_bus_flush_close_unref(bus);
  std::printf("sent %d\n", count);
  return 0;
}

int send_descriptors(sd_bus* bus, int count) {
  for (int i = 0; i < count; i++) {
    sd_bus_message* call = call_of(bus, "Check");
    for (int n = 0; n < 16; n++) (void)sd_bus_message_append(call, "h", 0);
    (void)sd_bus_send(bus, call, nullptr);
    sd_bus_message_unref(call);
  }
  sd_bus_flush_close_unref(bus);
  std::printf("sent %d\n", count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  sd_bus* bus = nullptr;
  if (sd_bus_open_system(&bus) < 0) return 1;
  const std::string mode = argv[1];
  if (mode == "--flood") return flood(bus, "/org/rdtd1", "Plan", std::atoi(argv[2]));
  if (mode == "--paths") return flood(bus, longest_path(), "Reload", std::atoi(argv[2]));
  if (mode == "--large") return send_large(std::atoi(argv[2]));
  if (mode == "--descriptors") return send_descriptors(bus, std::atoi(argv[2]));
  Fuzz fuzz(bus, static_cast<unsigned>(std::atoi(argv[1])));
  const int count = std::atoi(argv[2]);
  int answered = 0;
  for (int i = 0; i < count; i++) answered += fuzz.send() ? 1 : 0;
  std::printf("answered %d of %d\n", answered, count);
  sd_bus_flush_close_unref(bus);
  return answered == count ? 0 : 1;
}
