// Who may do what: each call by root, by a user whom polkit authorizes, and by one whom it does
// not. The scenario `polkit` asks the real polkit about some of them, and about all in a release.
#include "bus_world.hpp"

namespace rdtd {
namespace {

using test::neighbor;
using test::Reply;
using test::stranger;
using GroupNames = std::vector<std::string>;

class BusRights : public test::BusTest {
 protected:
  struct Row {
    const char* name;
    std::function<Reply(sd_bus*)> call;
    const char *root, *authorized, *other;  // the last word of the error's name, or "" for success
  };

  std::vector<Row> rows() {
    const auto plain = [this](const char* method) {
      return [this, method](sd_bus* client) { return call(client, method); };
    };
    const auto with = [this](const char* method, auto... arguments) {
      return [this, method, arguments...](sd_bus* client) {
        return call(client, method, arguments...);
      };
    };
    const std::string none, web = "web", nowhere = "nowhere";
    const uint32_t pid = 12, no_pid = 404;
    const auto properties = [this](sd_bus* client) {
      return call_of(client, properties_interface, "GetAll", std::string(bus_interface));
    };
    return {
        {"Check", plain("Check"), "", "", "NotPermitted"},
        {"Plan", plain("Plan"), "", "", "NotPermitted"},
        {"ListGroups", plain("ListGroups"), "", "", ""},
        {"ListRules", plain("ListRules"), "", "", ""},
        {"ListLocks", plain("ListLocks"), "", "", ""},
        {"ListLeases", plain("ListLeases"), "", "", ""},
        {"GetCounters", plain("GetCounters"), "", "", ""},
        {"GetAll", properties, "", "", ""},
        {"Subscribe", plain("Subscribe"), "", "", ""},
        {"Unsubscribe", plain("Unsubscribe"), "", "", ""},
        {"Explain another's", with("Explain", pid), "", "", "NotPermitted"},
        {"Explain none", with("Explain", no_pid), "NoSuchProcess", "NoSuchProcess",
         "NoSuchProcess"},
        {"Assign", with("Assign", pid, web), "", "", "NotPermitted"},
        {"Assign to none", with("Assign", pid, nowhere), "NoSuchGroup", "NoSuchGroup",
         "NoSuchGroup"},
        {"Reload", plain("Reload"), "", "", "NotPermitted"},
        {"Adopt", with("Adopt", GroupNames{web}), "", "", "NotPermitted"},
        {"Adopt none", with("Adopt", GroupNames{nowhere}), "NoSuchGroup", "NoSuchGroup",
         "NotPermitted"},
        {"Adopt many", with("Adopt", GroupNames(257, web)), "InvalidArgs", "InvalidArgs",
         "InvalidArgs"},
        {"Lease", with("Lease", web, std::string("[group.b]")), "", "", "NotPermitted"},
        {"Lease of nothing", with("Lease", web, none), "InvalidPolicy", "InvalidPolicy",
         "NotPermitted"},
        {"Lease of much", with("Lease", web, std::string(65537, '#')), "InvalidArgs", "InvalidArgs",
         "InvalidArgs"},
        {"Update a lease", with("UpdateLease", web, std::string("[group.b]")), "", "",
         "NotPermitted"},
        {"Update none", with("UpdateLease", nowhere, none), "NoSuchLease", "NoSuchLease",
         "NotPermitted"},
        {"Update by much", with("UpdateLease", web, std::string(65537, '#')), "InvalidArgs",
         "InvalidArgs", "InvalidArgs"},
        {"Reset", plain("Reset"), "Busy", "Busy", "NotPermitted"},
    };
  }
};

TEST_F(BusRights, EachCallByEachKindOfUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can connect as two users";
  start_all();
  start_polkit();
  sd_bus *root = connect(0), *authorized = connect(neighbor), *other = connect(stranger);
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(row.call(root).error(), row.root);
    EXPECT_TRUE(asked_.empty()) << "root needs no authorization";
    authorized_ = true;
    EXPECT_EQ(row.call(authorized).error(), row.authorized);
    authorized_ = false;
    EXPECT_EQ(row.call(other).error(), row.other);
    asked_.clear();
  }
}

}  // namespace
}  // namespace rdtd
