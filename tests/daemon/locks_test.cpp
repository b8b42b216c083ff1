// Pseudo-locked regions of the policy in force: locked, kept, undone once nobody has the device.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rdtd/resctrl/device_access.hpp"
#include "world.hpp"

namespace rdtd {
namespace {

const std::string buffer =
    "[pseudo_lock.buffer]\nl2 = { \"1\" = \"1 MiB\" }\nowner = \"alice\"\nmode = \"0660\"\n";

class LocksTest : public test::World {
 protected:
  void SetUp() override { use(fake::atom()); }
  [[nodiscard]] std::string file(const std::string& name) const {
    return kernel.resctrl.read(name).value_or("none\n");
  }
  void reconcile() {
    manager->reconciler().reconcile();
    run(std::chrono::seconds(1));
  }
  // The CPUs of the domain go and come: the kernel has forgotten its masks and its region.
  void restart_domain() {
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.take_offline(cpu);
    reconcile();
    for (const unsigned cpu : {2U, 3U}) kernel.resctrl.bring_online(cpu);
    manager->reconciler().cpu_changed();
    run(std::chrono::seconds(2));
  }
  // "NAME L2 1 1 MiB 3 1048576 locked", with the reason behind it.
  [[nodiscard]] std::string listed() {
    run(std::chrono::seconds(1));  // an answer is kept for a moment
    std::string out;
    const auto locks = manager->answers().list_locks();
    for (const LockStatus& lock : *locks)
      out += fmt::format("{} {} {} {} {} {} {}{}\n", lock.name, lock.resource, lock.domain,
                         lock.asked, lock.mask, lock.bytes, lock.state,
                         lock.reason.empty() ? "" : ": " + lock.reason);
    return out;
  }
  const std::string in_use = "process 812 (app) has /dev/pseudo_lock/buffer open";
};

TEST_F(LocksTest, LocksAndUndoes) {
  ASSERT_EQ(reload(buffer), "");
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");
  EXPECT_EQ(file("buffer/schemata"), "L2:1=3\n");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n");
  ASSERT_EQ(access.size(), 1U);
  EXPECT_EQ(access[0].owner->value, "alice");
  EXPECT_EQ(access[0].mode, 0660U);

  // What does not touch it, leaves it; so does a restart.
  const uint64_t inode = kernel.resctrl.find("buffer")->inode;
  ASSERT_EQ(reload(buffer + "[group.a]\nl2 = \"2 ways\"\n"), "");
  reconcile();
  start();
  ASSERT_EQ(load(), "");
  reconcile();
  EXPECT_EQ(kernel.resctrl.find("buffer")->inode, inode);
  EXPECT_TRUE(drift.empty());

  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("buffer/mode"), "none\n");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSSS\n");
  EXPECT_TRUE(access.empty());
}

// A region takes the name of a group, and fails: the group is back with its tasks.
TEST_F(LocksTest, AFailureGivesTheNameBack) {
  const std::string group =
      "[group.buffer]\nl2 = \"4 ways\"\n[[rule]]\ngroup = \"buffer\"\nname = \"web\"\n";
  ASSERT_EQ(reload(group), "");
  const std::string granted = file("buffer/schemata");
  for (const char* failing :
       {"write buffer/mode 'pseudo-locksetup'", "write buffer/schemata 'L2:1=3'"}) {
    SCOPED_TRACE(failing);
    const pid_t task = processes.start({.name = "other"});
    ASSERT_TRUE(kernel.resctrl.write("buffer/tasks", std::to_string(task) + "\n"));
    kernel.calls.fail_if([&](const fake::Call& call) { return call.text() == failing; }, EIO);
    const std::string refused = reload(buffer);
    kernel.calls.reset();
    EXPECT_TRUE(refused.ends_with("everything is as it was)")) << refused;
    EXPECT_EQ(file("buffer/schemata"), granted);
    EXPECT_EQ(group_of(task), "buffer");
    // Its files were opened again.
    const pid_t later = processes.start({.name = "web"});
    manager->core().sweeper.visit({.pid = later});
    run();
    EXPECT_EQ(group_of(later), "buffer");
  }
}

TEST_F(LocksTest, Lists) {
  EXPECT_EQ(listed(), "");
  ASSERT_EQ(reload(buffer), "");
  EXPECT_EQ(listed(), "buffer L2 1 1 MiB 3 1048576 locked\n");
  const LockStatus lock = manager->answers().list_locks()->at(0);
  EXPECT_EQ(lock.device, "/dev/pseudo_lock/buffer");
  EXPECT_EQ(lock.owner + " " + lock.user_group + " " + lock.mode, "alice root 0660");

  // The policy asks for another size, another place, or none, while the device is open.
  holders["buffer"] = in_use;
  for (const char* amount : {"3 ways", "ways 4-5"}) {
    ASSERT_EQ(reload(fmt::format("[pseudo_lock.buffer]\nl2 = {{ \"1\" = \"{}\" }}\n", amount)), "");
    EXPECT_EQ(listed(), fmt::format("buffer L2 1 {} 3 1048576 waiting: {}\n", amount, in_use));
  }
  ASSERT_EQ(reload("[pseudo_lock.buffer]\nl2 = { \"0\" = \"1 way\" }\n"), "");
  EXPECT_EQ(listed(), "buffer L2 1 1 way 3 1048576 waiting: " + in_use + "\n");
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(listed(), "buffer L2 1  3 1048576 waiting: " + in_use + "\n");
  holders.clear();
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(listed(), "");
}

// The look for who has the device open is repeated just before the region goes, and its answer may
// come too late. The rest of the policy does not wait.
TEST_F(LocksTest, ADeviceThatIsOpenedAfterThePlanDoesNotFailTheLoad) {
  ASSERT_EQ(reload(buffer), "");
  int reads = 0;
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.operation == "read" && call.path == "buffer/mode" && ++reads == 2)
      holders["buffer"] = in_use;
  };
  EXPECT_EQ(reload("[group.a]\nl2 = \"2 ways\"\n"), "");
  kernel.calls.hook = nullptr;
  EXPECT_EQ(listed(), "buffer L2 1  3 1048576 waiting: " + in_use + "\n");
  EXPECT_EQ(file("a/mode"), "shareable\n");
  holders.clear();
  run(std::chrono::seconds(6));
  EXPECT_EQ(listed(), "");
  EXPECT_EQ(state(), "running");
}

TEST_F(LocksTest, ListsWhatIsMissing) {
  ASSERT_EQ(reload("[daemon]\ndrift = \"report\"\n" + buffer), "");
  ASSERT_TRUE(kernel.resctrl.remove("buffer"));
  EXPECT_EQ(listed(), "buffer L2 1 1 MiB 3 1048576 missing: pseudo_lock 'buffer' is not there\n");
  ASSERT_TRUE(kernel.resctrl.make("buffer"));
  EXPECT_EQ(listed(),
            "buffer L2 1 1 MiB 3 1048576 missing: pseudo_lock 'buffer' was removed and made again "
            "by another tool\n");
  ASSERT_TRUE(kernel.resctrl.remove("buffer"));

  // The kernel finds no memory.
  ASSERT_EQ(reload(buffer), "");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "buffer/schemata";
      },
      ENOMEM);
  restart_domain();
  const std::string missing = listed();
  kernel.calls.reset();
  EXPECT_EQ(missing,
            "buffer L2 1 1 MiB 3 1048576 missing: cannot write 'L2:1=3' to "
            "/sys/fs/resctrl/buffer/schemata: Cannot allocate memory (everything is as it was)\n");

  // At the start, another tool is in the way.
  ASSERT_EQ(reload(""), "");
  ASSERT_TRUE(kernel.resctrl.make("buffer"));
  policy = buffer;
  start();
  ASSERT_EQ(load(), "");
  EXPECT_EQ(listed(),
            "buffer L2 1 1 MiB  0 missing: group 'buffer' exists in resctrl already and rdtd did "
            "not make it\n");
}

// A new group, and a region begins as one, needs ways that no group has in the exclusive mode: the
// groups leave it meanwhile, and are in it again also if the kernel refuses the region.
TEST_F(LocksTest, IsRestoredBelowAnExclusiveGroup) {
  fake::Machine machine = fake::atom();
  machine.controls.at(Resource::L2).min_cbm_bits = 2;
  use(std::move(machine));
  ASSERT_EQ(reload("[group.a]\nl2 = \"ways 1-2\"\nexclusive = true\n" + buffer), "");
  EXPECT_EQ(file("buffer/schemata"), "L2:1=18\n");
  EXPECT_EQ(file("a/mode"), "exclusive\n");
  ASSERT_TRUE(kernel.resctrl.remove("buffer"));
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "buffer/schemata";
      },
      ENOMEM);
  reconcile();
  EXPECT_EQ(file("buffer/schemata"), "none\n");
  EXPECT_EQ(file("a/mode"), "exclusive\n");
  // What changes for the attempts is no reason for the next one.
  const auto attempts = [this] {
    return std::ranges::count(kernel.calls.texts(), "write a/mode 'shareable'");
  };
  const auto before = attempts();
  for (int i = 0; i < 100; i++) {
    manager->reconciler().resctrl_changed({"a"});
    run(std::chrono::milliseconds(200));
  }
  EXPECT_GT(attempts(), before);
  EXPECT_LT(attempts(), before + 10);
  kernel.calls.reset();
  reconcile();
  EXPECT_EQ(file("buffer/schemata"), "L2:1=18\n");
  EXPECT_EQ(file("a/mode"), "exclusive\n");
}

TEST_F(LocksTest, ListsWhatTheMachineCannotHave) {
  ASSERT_EQ(reload("[daemon]\nunsupported = \"skip\"\n[pseudo_lock.p]\nl3 = { \"0\" = \"1 MiB\" "
                   "}\n"),
            "");
  EXPECT_EQ(listed(), "p L3 0 1 MiB  0 missing: not available on this machine\n");
}

// Reading takes a file of each group: it is done once in a moment.
TEST_F(LocksTest, ListsFromOneReading) {
  ASSERT_EQ(reload(buffer), "");
  ASSERT_TRUE(manager->answers().list_locks());
  const size_t calls = kernel.calls.count();
  ASSERT_TRUE(manager->answers().list_locks());
  EXPECT_EQ(kernel.calls.count(), calls);
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "list"; }, EIO);
  run(std::chrono::seconds(1));
  EXPECT_EQ(manager->answers().list_locks().error().text,
            "cannot list /sys/fs/resctrl: Input/output error");
  kernel.calls.reset();
}

// Of several L3 domains only the kernel knows which CPUs they have.
TEST_F(LocksTest, TheKernelRefusesASecondRegionOverTheSameCpus) {
  fake::Machine machine = fake::xeon();
  machine.pseudo_locking = true;
  machine.controls[Resource::L2] = fake::atom().controls.at(Resource::L2);
  kernel.resctrl = fake::Resctrl(machine);
  start();
  EXPECT_EQ(reload("[pseudo_lock.a]\nl3 = { \"0\" = \"1 way\" }\n[pseudo_lock.b]\nl2 = { \"0\" = "
                   "\"1 way\" }\n"),
            "cannot write 'L2:0=1' to /sys/fs/resctrl/b/schemata: Invalid argument (a cache of the "
            "same CPUs has a locked region already (last_cmd_status: Pseudo-locked region in "
            "hierarchy); everything is as it was)");
  EXPECT_EQ(file("a/mode") + file("b/mode"), "none\nnone\n");
}

TEST_F(LocksTest, StaysWhileItsDeviceIsOpen) {
  ASSERT_EQ(reload(buffer), "");
  holders["buffer"] = in_use;
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n");
  EXPECT_EQ(problems(), std::vector<std::string>{
                            "the end of pseudo_lock 'buffer' is not in force: process 812 (app) "
                            "has /dev/pseudo_lock/buffer open"});
  EXPECT_EQ(state(), "degraded");
  run(std::chrono::seconds(20));
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");

  holders.clear();
  run(std::chrono::seconds(6));
  EXPECT_EQ(file("buffer/mode"), "none\n");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSSS\n");
  EXPECT_EQ(state(), "running");
}

// Who it is may take longer to find than a load waits.
TEST_F(LocksTest, LearnsLaterWhoHasItsDeviceOpen) {
  ASSERT_EQ(reload(buffer), "");
  holders["buffer"] = "it is not known yet who has /dev/pseudo_lock/buffer open";
  ASSERT_EQ(reload(""), "");
  holders["buffer"] = in_use;
  run(std::chrono::seconds(6));
  EXPECT_EQ(problems(),
            std::vector<std::string>{"the end of pseudo_lock 'buffer' is not in force: " + in_use});
  EXPECT_EQ(listed(), "buffer L2 1  3 1048576 waiting: " + in_use + "\n");
}

TEST_F(LocksTest, IsKeptInUseAlsoByAReset) {
  ASSERT_EQ(reload(buffer + "[group.a]\nl2 = \"2 ways\"\n"), "");
  holders["buffer"] = in_use;
  const auto reset = [this] {
    return wait([this](Manager::Done done) { manager->changes().reset(std::move(done)); });
  };
  EXPECT_EQ(reset(),
            "cannot remove pseudo_lock 'buffer': Device or resource busy "
            "(process 812 (app) has /dev/pseudo_lock/buffer open)");
  EXPECT_EQ(file("a/mode"), "none\n");
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");
  holders.clear();
  EXPECT_EQ(reset(), "");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSSS\n");
}

TEST_F(LocksTest, IsLockedAgain) {
  ASSERT_EQ(reload(buffer), "");
  ASSERT_TRUE(kernel.resctrl.remove("buffer"));
  reconcile();
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");
  EXPECT_EQ(drift, std::vector<std::string>{"pseudo_lock 'buffer' is not there; restored"});

  // Its domain goes and comes.
  drift.clear();
  restart_domain();
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n");
}

// A program may have the device open all the time: the region comes back once it lets go.
TEST_F(LocksTest, LosesItsDomainWhileInUse) {
  ASSERT_EQ(reload(buffer), "");
  holders["buffer"] = in_use;
  restart_domain();
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSSS\n");
  EXPECT_EQ(state(), "degraded");
  EXPECT_EQ(problems(),
            std::vector<std::string>{"the end of pseudo_lock 'buffer' is not in force: " + in_use});
  holders.clear();
  run(std::chrono::seconds(12));
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n");
  EXPECT_EQ(state(), "running");
}

// The kernel's reasons, as in fs/resctrl/pseudo_lock.c and ctrlmondata.c, with plainer words
// before.
TEST_F(LocksTest, ReasonsOfTheKernel) {
  const struct {
    const char *kernels, *plain;
  } rows[] = {
      {"Pseudo-locking not supported",
       "the kernel cannot lock memory into the caches of this processor"},
      {"CDP enabled", "the kernel locks no memory while a cache is divided into code and data"},
      {"Pseudo-locked region in hierarchy", "a cache of the same CPUs has a locked region already"},
      {"Requested region exceeds maximum size", "the region is larger than the kernel can lock"},
      {"Overlaps with other group", "another group can fill these ways"},
  };
  for (const auto& row : rows) {
    const auto is_lock = [](const fake::Call& call) {
      return call.operation == "write" && call.path == "buffer/schemata";
    };
    kernel.calls.fail_if(is_lock, EINVAL);
    kernel.calls.hook = [&](const fake::Call& call) {
      if (!is_lock(call)) return;
      kernel.resctrl.status.clear();
      kernel.resctrl.status.put(std::string(row.kernels) + "\n");
    };
    EXPECT_EQ(reload(buffer),
              std::string("cannot write 'L2:1=3' to /sys/fs/resctrl/buffer/schemata: Invalid "
                          "argument (") +
                  row.plain + " (last_cmd_status: " + row.kernels + "); everything is as it was)");
    kernel.calls.hook = nullptr;
    kernel.calls.reset();
  }
}

// An attempt makes a group and removes it, and the next one must not follow from that at once.
TEST_F(LocksTest, AttemptsBecomeRare) {
  ASSERT_EQ(reload(buffer), "");
  int attempts = 0;
  kernel.calls.hook = [&](const fake::Call& call) {
    if (call.text() == "make buffer") attempts++;
  };
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "buffer/schemata";
      },
      ENOMEM);
  restart_domain();
  for (int turn = 0; turn < 100; turn++) {
    manager->reconciler().resctrl_changed({"buffer"});
    run(std::chrono::milliseconds(200));
  }
  EXPECT_GE(attempts, 2);
  EXPECT_LE(attempts, 12);
  kernel.calls.hook = nullptr;
}

// Limits do not wait for memory that the kernel cannot find.
TEST_F(LocksTest, LimitsAreRestoredWithoutIt) {
  ASSERT_EQ(reload(buffer + "[group.a]\nl2 = \"2 ways\"\nexclusive = true\n"), "");
  const std::string limits = schemata("a") + schemata("");
  kernel.calls.fail_if(
      [](const fake::Call& call) {
        return call.operation == "write" && call.path == "buffer/schemata";
      },
      ENOMEM);
  restart_domain();
  EXPECT_EQ(schemata("a") + schemata(""), limits);
  EXPECT_EQ(file("buffer/mode"), "none\n");
  EXPECT_EQ(problems(),
            (std::vector<std::string>{
                "cannot write 'L2:1=3' to /sys/fs/resctrl/buffer/schemata: Cannot allocate memory "
                "(everything is as it was)",
                "pseudo_lock 'buffer' is not there"}));
  kernel.calls.reset();
  reconcile();
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");
  EXPECT_EQ(state(), "running");
}

// Who waits for the device may open it before a load fails.
TEST_F(LocksTest, AnUndoLeavesWhatIsInUse) {
  kernel.calls.hook = [this](const fake::Call& call) {
    if (call.path == "buffer/schemata") holders["buffer"] = in_use;
  };
  kernel.calls.fail_if([](const fake::Call& call) { return call.operation == "open_tasks"; }, EIO);
  EXPECT_EQ(reload(buffer),
            "cannot open /sys/fs/resctrl/tasks: Input/output error (not restored: group 'buffer': "
            "cannot remove pseudo_lock 'buffer': Device or resource busy (" +
                in_use +
                "); group 'default': cannot write 'L2:1=ff' to /sys/fs/resctrl/schemata: Invalid "
                "argument (last_cmd_status: CBM overlaps with pseudo-locked region))");
  kernel.calls.reset();
  kernel.calls.hook = nullptr;
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n");
  holders.clear();
  ASSERT_EQ(reload(""), "");
  EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSSS\n");
}

// At the start, what waits for a device does not keep the rest.
TEST_F(LocksTest, StartsBesideARegionInUse) {
  ASSERT_EQ(reload(buffer), "");
  holders["buffer"] = in_use;
  policy = "[group.big]\nl2 = \"7 ways\"\nexclusive = true\n[group.small]\nl2 = \"1 way\"\n";
  start();
  EXPECT_EQ(load(), "");
  EXPECT_EQ(file("small/mode"), "shareable\n");
  EXPECT_EQ(file("big/mode"), "none\n");
  EXPECT_EQ(file("buffer/mode"), "pseudo-locked\n");
  holders.clear();
  run(std::chrono::seconds(6));
  EXPECT_EQ(file("buffer/mode"), "none\n");
  EXPECT_EQ(file("big/mode"), "exclusive\n");
  EXPECT_EQ(state(), "running");
}

// Whatever fails, the state is that before, or that after.
TEST_F(LocksTest, Failures) {
  const std::string other = "[pseudo_lock.buffer]\nl2 = { \"1\" = \"3 ways\" }\n";
  for (const char* to : {"", other.c_str()})
    for (int n = 1; n < 200; n++) {
      ASSERT_EQ(reload(buffer), "");
      kernel.calls.reset();
      kernel.calls.fail(static_cast<size_t>(n), EIO);
      const std::string error = reload(to);
      const bool reached = kernel.calls.count() >= static_cast<size_t>(n);
      kernel.calls.reset();
      if (!error.empty()) {
        EXPECT_EQ(file("buffer/schemata"), "L2:1=3\n") << n << ": " << error;
        EXPECT_EQ(file("info/L2/bit_usage"), "0=SSSSSSSS;1=SSSSSSPP\n") << n << ": " << error;
      }
      ASSERT_EQ(reload(to), "");
      EXPECT_EQ(file("info/L2/bit_usage"),
                *to == '\0' ? "0=SSSSSSSS;1=SSSSSSSS\n" : "0=SSSSSSSS;1=SSSSSPPP\n");
      if (!reached) break;
    }
}

TEST_F(LocksTest, AccessFiles) {
  const Directory state = *Directory::open(root_.string());
  EXPECT_TRUE(resctrl::store_device_access(state, {}));
  EXPECT_FALSE(std::filesystem::exists(root_ / "pseudo_lock"));
  PseudoLock one{.name = {"one", {}}, .owner = Located<std::string>{"alice", {}}, .mode = 0640};
  PseudoLock two{.name = {"two", {}}, .user_group = Located<std::string>{"1000", {}}};
  ASSERT_TRUE(resctrl::store_device_access(state, {one, two}));
  EXPECT_EQ(state.read("pseudo_lock/one").value(),
            "RDTD_OWNER=alice\nRDTD_GROUP=root\nRDTD_MODE=0640\n");
  EXPECT_EQ(state.read("pseudo_lock/two").value(),
            "RDTD_OWNER=root\nRDTD_GROUP=1000\nRDTD_MODE=0600\n");
  ASSERT_TRUE(resctrl::store_device_access(state, {two}));
  EXPECT_FALSE(std::filesystem::exists(root_ / "pseudo_lock/one"));
}

}  // namespace
}  // namespace rdtd
