// Texts on D-Bus that not everybody may read: what root and another user receive of each. The table
// in docs/security.md says why.
#include <gtest/gtest.h>

#include "bus_world.hpp"
#include "objects.hpp"

namespace rdtd {
namespace {

using namespace test;

class BusTextsTest : public BusTest {
 protected:
  using Properties = std::map<std::string, std::string>;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
    BusTest::SetUp();
    manager_.process_owner = stranger;
    manager_.groups = std::make_shared<const GroupList>(std::vector<GroupStatus>{
        {.name = "closed", .description = "full"},
        {.name = "open", .description = "for all", .description_for_all = true}});
  }

  // A text, or the texts of a list, each with a space behind it; of other properties nothing.
  static std::string read_text(sd_bus_message* message) {
    const char* type = nullptr;
    EXPECT_GT(sd_bus_message_peek_type(message, nullptr, &type), 0);
    const std::string_view signature = type;
    std::string out;
    std::vector<std::string> list;
    if (signature == "s")
      EXPECT_GE(wire::read_variant(message, out), 0);
    else if (signature == "as")
      EXPECT_GE(wire::read_variant(message, list), 0);
    else
      EXPECT_GE(sd_bus_message_skip(message, "v"), 0);
    for (const std::string& text : list) out += text + " ";
    return out;
  }

  static Properties read_properties(sd_bus_message* message) {
    Properties out;
    EXPECT_GT(sd_bus_message_enter_container(message, 'a', "{sv}"), 0);
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
      std::string name;
      EXPECT_GE(wire::read(message, name), 0);
      out[name] = read_text(message);
      EXPECT_GE(sd_bus_message_exit_container(message), 0);
    }
    EXPECT_GE(sd_bus_message_exit_container(message), 0);
    return out;
  }

  Properties properties_of(sd_bus* client, const std::string& path, const char* interface) {
    sd_bus_message* made = nullptr;
    EXPECT_GE(sd_bus_message_new_method_call(client, &made, bus_name, path.c_str(),
                                             properties_interface, "GetAll"),
              0);
    const Message request(made);
    EXPECT_GE(sd_bus_message_append(made, "s", interface), 0);
    std::vector<Reply> replies;
    send(client, request, replies);
    wait_for([&] { return !replies.empty(); });
    return read_properties(replies.at(0).message.get());
  }

  std::string text_of(Reply reply) {
    return reply.error().empty() ? reply.read<std::string>() : reply.error_text();
  }
};

TEST_F(BusTextsTest, RepliesToRootAndToOthers) {
  start_all();
  start_polkit();
  sd_bus *root = connect(0), *other = connect(stranger);
  const auto texts = [&](sd_bus* client) {
    Properties manager = properties_of(client, bus_path, bus_interface);
    const auto leases = call(client, "ListLeases");
    using Row = std::tuple<std::string, uint32_t, uint64_t, std::vector<std::string>, std::string>;
    return std::vector<std::string>{
        manager["LastReloadError"],
        manager["Problems"],
        text_of(call(client, "Check")),
        text_of(call(client, "Reset")),
        text_of(call(client, "Lease", std::string("a"), std::string())),
        std::get<4>(leases.read<std::vector<Row>>().at(0)),
        properties_of(client, path_of_group("closed"), group_interface)["Description"],
        properties_of(client, path_of_group("open"), group_interface)["Description"]};
  };
  EXPECT_EQ(texts(root), (std::vector<std::string>{"full", "full ", "full", "full", "full", "text",
                                                   "full", "for all"}));
  EXPECT_EQ(texts(other), (std::vector<std::string>{"public", "public ", "public", "public",
                                                    "public", "", "", "for all"}));
}

// Everybody receives them, whoever caused them.
TEST_F(BusTextsTest, SignalsArePublic) {
  start_all();
  struct Received {
    Properties manager, group, added;
  } received;
  sd_bus* root = connect(0);
  const auto on_changed = [](sd_bus_message* signal, void* to, sd_bus_error*) {
    auto& out = *static_cast<Received*>(to);
    std::string interface;
    EXPECT_GE(wire::read(signal, interface), 0);
    (interface == bus_interface ? out.manager : out.group) = read_properties(signal);
    return 0;
  };
  const auto on_added = [](sd_bus_message* signal, void* to, sd_bus_error*) {
    EXPECT_GE(sd_bus_message_skip(signal, "o"), 0);
    EXPECT_GT(sd_bus_message_enter_container(signal, 'a', "{sa{sv}}"), 0);
    while (sd_bus_message_enter_container(signal, 'e', "sa{sv}") > 0) {
      EXPECT_GE(sd_bus_message_skip(signal, "s"), 0);
      static_cast<Received*>(to)->added.merge(read_properties(signal));
      EXPECT_GE(sd_bus_message_exit_container(signal), 0);
    }
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(root, nullptr, nullptr, nullptr, properties_interface,
                                "PropertiesChanged", on_changed, &received),
            0);
  ASSERT_GE(sd_bus_match_signal(root, nullptr, nullptr, nullptr, nullptr, "InterfacesAdded",
                                on_added, &received),
            0);
  manager_.groups = std::make_shared<const GroupList>(std::vector<GroupStatus>{
      {.name = "closed", .description = "changed"}, {.name = "new", .description = "full"}});
  service_->emit_reloaded(false);
  wait_for([&] { return !received.manager.empty() && !received.added.empty(); });
  EXPECT_EQ(received.manager["LastReloadError"], "public");
  EXPECT_EQ(received.manager["Problems"], "public ");
  EXPECT_EQ(received.group.at("Description"), "");
  EXPECT_EQ(received.added.at("Description"), "");
}

TEST_F(BusTextsTest, AStateIsAnnouncedWhenItChanges) {
  start_all();
  struct Received {
    int states = 0, drifts = 0;
  } received;
  sd_bus* root = connect(0);
  const auto on_state = [](sd_bus_message*, void* to, sd_bus_error*) {
    static_cast<Received*>(to)->states++;
    return 0;
  };
  const auto on_drift = [](sd_bus_message*, void* to, sd_bus_error*) {
    static_cast<Received*>(to)->drifts++;
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(root, nullptr, nullptr, nullptr, properties_interface,
                                "PropertiesChanged", on_state, &received),
            0);
  ASSERT_GE(sd_bus_match_signal(root, nullptr, nullptr, nullptr, nullptr, "DriftDetected", on_drift,
                                &received),
            0);
  for (const char* state : {"degraded", "degraded", "running"}) service_->emit_state(state);
  service_->emit_drift("the last signal");
  wait_for([&] { return received.drifts > 0; });
  EXPECT_EQ(received.states, 2);
}

}  // namespace
}  // namespace rdtd
