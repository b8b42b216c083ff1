#include "rdtd/bus/client.hpp"

#include <fcntl.h>
#include <systemd/sd-bus.h>

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <tuple>

#include "fields.hpp"
#include "names.hpp"
#include "wire.hpp"

namespace rdtd {

namespace {

// Microseconds. A reload looks at every process of the machine, after somebody may have had 120 s
// to enter a password. What only shows what the daemon knows waits for nothing.
constexpr uint64_t change_timeout = 180'000'000, read_timeout = 25'000'000;

class ErrorHolder {
 public:
  ErrorHolder() = default;
  ErrorHolder(const ErrorHolder&) = delete;
  ErrorHolder& operator=(const ErrorHolder&) = delete;
  ~ErrorHolder() { sd_bus_error_free(&error_); }
  [[nodiscard]] sd_bus_error* get() { return &error_; }
  [[nodiscard]] bool is(const std::string& name) const {
    return sd_bus_error_has_name(&error_, name.c_str()) != 0;
  }
  [[nodiscard]] std::string text(int r) const {
    const std::string message = error_.message != nullptr ? error_.message : "";
    return message.empty() ? std::strerror(-r) : message;
  }

 private:
  sd_bus_error error_ = SD_BUS_ERROR_NULL;
};

// "active", "failed" and so on; "" if systemd does not answer. The daemon may run without being on
// the bus.
std::string state_of_unit(sd_bus* bus) {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_call(bus, &made, "org.freedesktop.systemd1",
                                         "/org/freedesktop/systemd1/unit/rdtd_2eservice",
                                         properties_interface, "Get");
  const Message request(made);
  if (r >= 0)
    r = wire::append_all(made, std::string("org.freedesktop.systemd1.Unit"),
                         std::string("ActiveState"));
  if (r >= 0) r = sd_bus_message_set_auto_start(made, 0);
  sd_bus_message* answer = nullptr;
  if (r >= 0) r = sd_bus_call(bus, made, 0, nullptr, &answer);
  const Message reply(answer);
  std::string state;
  if (r >= 0) r = wire::read_variant(answer, state);
  return r >= 0 ? state : "";
}

struct Target {
  const char* name = bus_name;
  const char* path = bus_path;
  const char* interface = bus_interface;
  uint64_t timeout = change_timeout;
};
constexpr Target for_reading{.timeout = read_timeout};
constexpr Target of_observer{observer_name, observer_path, observer_interface, read_timeout};

Client::Failure failure(sd_bus* bus, const Target& target, const ErrorHolder& error, int r) {
  using enum Client::Failure::Kind;
  if (r == -ETIMEDOUT && target.timeout == change_timeout)
    return {timed_out, "rdtd has not answered within 180 s, or nobody entered the password"};
  if (r == -ETIMEDOUT || error.is(SD_BUS_ERROR_TIMEOUT))
    return {timed_out, fmt::format("{0} does not answer: journalctl -u {0} may show why",
                                   target.name == observer_name ? "rdtd-observer" : "rdtd")};
  const bool no_owner =
      error.is(SD_BUS_ERROR_SERVICE_UNKNOWN) || error.is(SD_BUS_ERROR_NAME_HAS_NO_OWNER);
  const std::string state = no_owner ? state_of_unit(bus) : "";
  if (state == "active" || state == "reloading")
    return {not_on_bus,
            "rdtd is running, but it is not on the system bus: journalctl -u rdtd shows why"};
  if (state == "failed")
    return {not_running, "rdtd has failed: rdtctl doctor and journalctl -u rdtd say why"};
  if (no_owner || error.is(SD_BUS_ERROR_NO_REPLY))
    return {not_running, "rdtd is not running: systemctl start rdtd"};
  if (error.is(error_name(Refusal::Kind::not_permitted)))
    return {not_permitted, "not permitted: " + error.text(r)};
  if (error.is(error_name(Refusal::Kind::out_of_closids))) return {no_closid, error.text(r)};
  if (error.is(error_name(Refusal::Kind::incomplete))) return {incomplete, error.text(r)};
  if (error.is(error_name(Refusal::Kind::no_such_process))) return {no_such_process, error.text(r)};
  return {refused, error.text(r)};
}

Client::Failure malformed() {
  return {Client::Failure::Kind::refused,
          "the daemon's answer is malformed; is it of another version?"};
}

// Calls a method. An administrator at a desktop may be asked for a password.
template <class... Args>
Client::Answer<Message> call_of(sd_bus* bus, const Target& target, const char* method,
                                const Args&... args) {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_call(bus, &made, target.name, target.path, target.interface,
                                         method);
  const Message request(made);
  if (r >= 0) r = wire::append_all(made, args...);
  if (r >= 0) r = sd_bus_message_set_allow_interactive_authorization(made, 1);
  if (r >= 0) r = sd_bus_message_set_auto_start(made, 0);
  ErrorHolder error;
  sd_bus_message* reply = nullptr;
  if (r >= 0) r = sd_bus_call(bus, made, target.timeout, error.get(), &reply);
  if (r < 0) return std::unexpected(failure(bus, target, error, r));
  return Message(reply);
}

template <class... Args>
Client::Answer<Message> call(sd_bus* bus, const char* method, const Args&... args) {
  return call_of(bus, {}, method, args...);
}

template <class... Args>
Client::Answer<Message> ask(sd_bus* bus, const char* method, const Args&... args) {
  return call_of(bus, for_reading, method, args...);
}

template <class... Args>
Client::Answer<void> change(sd_bus* bus, const char* method, const Args&... args) {
  const auto reply = call(bus, method, args...);
  if (!reply) return std::unexpected(reply.error());
  return {};
}

// The values of a reply.
template <class... Ts>
Client::Answer<void> read_reply(const Client::Answer<Message>& reply, Ts&... values) {
  if (!reply) return std::unexpected(reply.error());
  int r = 0;
  ((r = r < 0 ? r : wire::read(reply->get(), values)), ...);
  if (r < 0) return std::unexpected(malformed());
  return {};
}

template <class T>
Client::Answer<T> answer(Client::Answer<void> read, T value) {
  if (!read) return std::unexpected(std::move(read.error()));
  return value;
}

int read_property(sd_bus_message* reply, const std::string& name, ManagerProperties& out) {
  if (name == "State") return wire::read_variant(reply, out.state);
  if (name == "LastReloadError") return wire::read_variant(reply, out.last_reload_error);
  if (name == "LastReloadTimestamp") return wire::read_variant(reply, out.last_reload_timestamp);
  if (name == "EventsSeen") return wire::read_variant(reply, out.events_seen);
  if (name == "Job") return wire::read_variant(reply, out.job);
  if (name == "JobTimestamp") return wire::read_variant(reply, out.job_timestamp);
  if (name == "EventOverruns") return wire::read_variant(reply, out.event_overruns);
  if (name == "Assignments") return wire::read_variant(reply, out.assignments);
  if (name == "Drift") return wire::read_variant(reply, out.drift);
  if (name == "ConfigFiles") return wire::read_variant(reply, out.config_files);
  if (name == "Problems") return wire::read_variant(reply, out.problems);
  return sd_bus_message_skip(reply, "v");
}

int read_properties(sd_bus_message* reply, ManagerProperties& out) {
  int r = sd_bus_message_enter_container(reply, 'a', "{sv}");
  while (r >= 0 && (r = sd_bus_message_enter_container(reply, 'e', "sv")) > 0) {
    std::string name;
    r = wire::read(reply, name);
    if (r >= 0) r = read_property(reply, name, out);
    if (r >= 0) r = sd_bus_message_exit_container(reply);
  }
  return r;
}

}  // namespace

void Client::Unref::operator()(sd_bus* bus) const { sd_bus_flush_close_unref(bus); }

Client::Answer<Client> Client::connect() {
  sd_bus* bus = nullptr;
  if (const int r = sd_bus_open_system(&bus); r < 0)
    return std::unexpected(
        Failure{Failure::Kind::no_bus,
                std::string("cannot connect to the system bus: ") + std::strerror(-r)});
  return Client(std::unique_ptr<sd_bus, Unref>(bus));
}

Client::Answer<void> Client::reload() { return change(bus_.get(), "Reload"); }

Client::Answer<std::vector<std::string>> Client::adopt(const std::vector<std::string>& groups) {
  std::vector<std::string> adopted;
  auto read = read_reply(call(bus_.get(), "Adopt", groups), adopted);
  return answer(std::move(read), std::move(adopted));
}

Client::Answer<void> Client::reset() { return change(bus_.get(), "Reset"); }

Client::Answer<void> Client::assign(pid_t pid, const std::string& group) {
  return change(bus_.get(), "Assign", static_cast<uint32_t>(pid), group);
}

Client::Answer<UniqueFd> Client::lease(const std::string& name, const std::string& policy) {
  const auto reply = call(bus_.get(), "Lease", name, policy);
  if (!reply) return std::unexpected(reply.error());
  int of_message = -1;  // which closes it
  if (sd_bus_message_read_basic(reply->get(), 'h', &of_message) <= 0)
    return std::unexpected(malformed());
  UniqueFd own(::fcntl(of_message, F_DUPFD_CLOEXEC, 3));
  if (!own)
    return std::unexpected(Failure{Failure::Kind::refused,
                                   std::string("cannot keep the lease: ") + std::strerror(errno)});
  return own;
}

Client::Answer<std::vector<LeaseStatus>> Client::list_leases() {
  std::vector<LeaseStatus> out;
  auto read = read_reply(ask(bus_.get(), "ListLeases"), out);
  return answer(std::move(read), std::move(out));
}

Client::Answer<PlanSummary> Client::plan() {
  PlanSummary out;
  auto read = read_reply(call(bus_.get(), "Plan"), out.steps, out.summary);
  return answer(std::move(read), std::move(out));
}

Client::Answer<Explanation> Client::explain(pid_t pid) {
  Explanation out;
  auto read = read_reply(call(bus_.get(), "Explain", static_cast<uint32_t>(pid)), out.name,
                         out.trials, out.threads);
  return answer(std::move(read), std::move(out));
}

Client::Answer<std::vector<Client::GroupRow>> Client::list_groups() {
  std::vector<GroupRow> out;
  auto read = read_reply(ask(bus_.get(), "ListGroups"), out);
  return answer(std::move(read), std::move(out));
}

Client::Answer<std::vector<RuleStatus>> Client::list_rules() {
  std::vector<RuleStatus> out;
  auto read = read_reply(ask(bus_.get(), "ListRules"), out);
  return answer(std::move(read), std::move(out));
}

Client::Answer<std::vector<LockStatus>> Client::list_locks() {
  std::vector<LockStatus> out;
  auto read = read_reply(ask(bus_.get(), "ListLocks"), out);
  return answer(std::move(read), std::move(out));
}

Client::Answer<Client::Observed> Client::observed(uint64_t since_usec) {
  Observed out;
  auto read =
      read_reply(call_of(bus_.get(), of_observer, "ListEpisodes", since_usec), out.episodes);
  if (read) read = read_reply(call_of(bus_.get(), of_observer, "ListContention"), out.counts);
  GuardStatus& guard = out.guard;
  if (read)
    read = read_reply(call_of(bus_.get(), of_observer, "ShowGuard"), guard.mode, guard.problem,
                      guard.amounts, guard.steps, guard.counts);
  return answer(std::move(read), std::move(out));
}

Client::Answer<ManagerProperties> Client::properties() {
  const auto reply =
      call_of(bus_.get(), {.interface = properties_interface, .timeout = read_timeout}, "GetAll",
              std::string(bus_interface));
  if (!reply) return std::unexpected(reply.error());
  ManagerProperties out;
  if (read_properties(reply->get(), out) < 0) return std::unexpected(malformed());
  return out;
}

Client::Answer<void> Client::subscribe() { return change(bus_.get(), "Subscribe"); }

}  // namespace rdtd
