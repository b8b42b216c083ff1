// What reads files: the search path, the resctrl tree from captured machines, the ownership record,
// the examples.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>

#include "files.hpp"
#include "rdtd/base/unique_fd.hpp"
#include "rdtd/policy/search.hpp"
#include "rdtd/resctrl/ownership.hpp"
#include "rdtd/resctrl/tree.hpp"
#include "support.hpp"

namespace rdtd {
namespace {

TEST_F(Files, SearchPath) {
  put("etc/rdtd/20-b.toml", "b");
  put("usr/lib/rdtd/20-b.toml", "lower");
  put("run/rdtd/10-a.toml", "a");
  put("usr/local/lib/rdtd/30-c.toml", "c");
  put("etc/rdtd/30-c.toml", "");
  put("usr/lib/rdtd/40-d.toml", "d");
  fs::create_symlink("/dev/null", root_ / "etc/rdtd/40-d.toml");
  fs::create_symlink("nowhere", root_ / "etc/rdtd/50-e.toml");
  fs::create_directories(root_ / "etc/rdtd/60-f.toml");
  put("etc/rdtd/70-g.toml", std::string(10 << 20, 'x'));
  put("etc/rdtd/.80-h.toml", "hidden");
  put("etc/rdtd/90-i.conf", "other");
  put("etc/rdtd/sub/95-j.toml", "below");
  std::string found;
  for (const PolicyFile& file : find_policy_files(root_.string())) {
    const char* states[] = {"active", "masked", "replaced", "unreadable"};
    found += fs::path(file.path).lexically_relative(root_).string() + " " +
             states[static_cast<int>(file.state)] +
             (file.problem.empty() ? "" : ": " + file.problem) + "\n";
  }
  EXPECT_EQ(found,
            "run/rdtd/10-a.toml active\n"
            "etc/rdtd/20-b.toml active\n"
            "usr/lib/rdtd/20-b.toml replaced\n"
            "etc/rdtd/30-c.toml masked\n"
            "usr/local/lib/rdtd/30-c.toml replaced\n"
            "etc/rdtd/40-d.toml masked\n"
            "usr/lib/rdtd/40-d.toml replaced\n"
            "etc/rdtd/50-e.toml unreadable: is a link to a file that does not exist\n"
            "etc/rdtd/60-f.toml unreadable: is a directory, not a policy file\n"
            "etc/rdtd/70-g.toml unreadable: is larger than 1 MiB, which no policy is\n");
}

// The name is shown in a form that D-Bus and a terminal can take.
TEST_F(Files, UnprintableNames) {
  put("etc/rdtd/10-\xff.toml", "[group.a]\n");
  put("run/rdtd/10-\xff.toml", "[group.a]\n");
  put("etc/rdtd/20-\x1b[31m.toml", "");
  const ParsedPolicy parsed = parse_policy(find_policy_files(root_.string()));
  const std::string etc = root_.string() + "/etc/rdtd/";
  EXPECT_EQ(format_diagnostics(parsed.diagnostics, parsed.policy.sources),
            etc +
                "10-?.toml: error: has a name that is not valid UTF-8 or contains control "
                "characters\n" +
                etc +
                "20-?[31m.toml: error: has a name that is not valid UTF-8 or contains "
                "control characters\n");
  EXPECT_TRUE(parsed.policy.groups.empty());
}

// A failure that may pass must not count as a bad policy.
TEST_F(Files, TransientFailures) {
  put("etc/rdtd/10-a.toml", "[group.a]\n");
  put("other/etc/rdtd", "not a directory");
  const std::string path = root_.string() + "/etc/rdtd/10-a.toml";
  // Before the descriptors run out: UBSan opens a pipe to check an object of a type that is new.
  const PolicyFile missing = read_policy_file(path + "x");
  const std::vector<PolicyFile> no_directory = find_policy_files((root_ / "other").string());
  std::vector<UniqueFd> all;
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  while (true) {
    UniqueFd fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!fd) break;
    all.push_back(std::move(fd));
  }
  const std::vector<PolicyFile> files = {read_policy_file(path)};
  const std::vector<PolicyFile> found = find_policy_files(root_.string());
  all.clear();
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  const ParsedPolicy parsed = parse_policy(files);
  ASSERT_EQ(parsed.diagnostics.size(), 1U);
  EXPECT_EQ(format_diagnostic(parsed.diagnostics[0], {}),
            path + ": error: cannot be read: Too many open files\n");
  EXPECT_EQ(parsed.diagnostics[0].cause, Cause::machine);
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found[0].transient);
  EXPECT_FALSE(missing.transient);
  ASSERT_EQ(no_directory.size(), 1U);
  EXPECT_FALSE(no_directory[0].transient);
  const ParsedPolicy refused = parse_policy(std::vector{missing});
  ASSERT_EQ(refused.diagnostics.size(), 1U);
  EXPECT_EQ(refused.diagnostics[0].cause, Cause::policy);
}

TEST_F(Files, WhoMayReadThem) {
  put("etc/rdtd/a.toml", "a");
  const std::string path = (root_ / "etc/rdtd/a.toml").string();
  const auto for_all = [&](const fs::path& below, fs::perms mode) {
    const fs::perms before = fs::status(root_ / below).permissions();
    fs::permissions(root_ / below, mode);
    const bool out = read_policy_file(path).for_all;
    fs::permissions(root_ / below, before);
    return out;
  };
  for (const char* directory : {"", "etc", "etc/rdtd"})
    fs::permissions(root_ / directory, fs::perms(0755));
  EXPECT_TRUE(for_all("etc/rdtd/a.toml", fs::perms(0644)));
  EXPECT_FALSE(for_all("etc/rdtd/a.toml", fs::perms(0640)));
  EXPECT_FALSE(for_all("etc/rdtd", fs::perms(0750)));
  EXPECT_FALSE(for_all("etc", fs::perms(0700)));
  EXPECT_FALSE(for_all("", fs::perms(0700)));
  EXPECT_TRUE(for_all("etc", fs::perms(0711)));
}

// A package or a person removes it meanwhile: what is no longer there is no error.
TEST_F(Files, OneThatIsRemovedWhileTheyAreListed) {
  const fs::path path = root_ / "etc/rdtd/10-a.toml";
  fs::create_directories(path.parent_path());
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) {
      std::ofstream(path) << "[group.a]\n";
      std::error_code error;
      fs::remove(path, error);
    }
  });
  std::string problems;
  for (int i = 0; i < 3000 && problems.empty(); i++)
    for (const PolicyFile& file : find_policy_files(root_.string()))
      if (file.state == PolicyFile::State::unreadable) problems += file.problem;
  stop = true;
  other.join();
  EXPECT_EQ(problems, "");
}

TEST_F(Files, NothingInEtc) { EXPECT_TRUE(find_policy_files(root_.string()).empty()); }

TEST_F(Files, UntrustedDirectory) {
  put("tree/sub/file", "inside");
  put("outside", "outside");
  fs::create_symlink("../outside", root_ / "tree/link");
  fs::create_directory_symlink("..", root_ / "tree/up");
  ASSERT_EQ(::mkfifo((root_ / "tree/fifo").c_str(), 0600), 0);
  const std::string path = (root_ / "tree").string();
  const auto tree = Directory::open_untrusted(path);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->read("sub/file"), "inside");
  EXPECT_EQ(tree->open_directory("sub")->read("file"), "inside");
  const struct {
    const char* name;
    const char* error;
  } rows[] = {
      {"link", "link: Too many levels of symbolic links (it is a symbolic link)"},
      {"up/outside", "up/outside: Not a directory"},
      {"../outside", "../outside: Invalid cross-device link"},
      {"fifo", "fifo: Invalid argument (it is not a regular file)"},
      {"sub", "sub: Is a directory"},
      {"none", "none: No such file or directory"},
  };
  for (const auto& row : rows) {
    const auto text = tree->read(row.name);
    ASSERT_FALSE(text) << row.name;
    EXPECT_EQ(text.error().text(), "cannot open " + path + "/" + row.error) << row.name;
  }
  EXPECT_FALSE(tree->open_directory("up"));
  EXPECT_FALSE(tree->open_directory("sub")->open_directory(".."));
  const auto entries = tree->list();
  ASSERT_TRUE(entries);
  for (const Directory::Entry& entry : *entries)
    EXPECT_EQ(entry.is_directory, entry.name == "sub") << entry.name;
}

// A failed write names the file and not the text, which may be long.
TEST_F(Files, ReplaceOnAFullDisk) {
  const auto directory = Directory::open(root_.string());
  ASSERT_TRUE(directory);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  const auto written = directory->replace("file", std::string(8192, 'x'));
  ::signal(SIGXFSZ, handler);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().text(), "cannot write " + root_.string() + "/file: File too large");
  EXPECT_TRUE(fs::is_empty(root_));
}

// Only one may hold the lock, and nobody who may not write the record can get at it.
TEST_F(Files, OwnershipLock) {
  auto first = Ownership::load(*Directory::open(root_.string()));
  auto second = Ownership::load(*Directory::open(root_.string()));
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(first->lock());
  const auto refused = second->lock();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "cannot lock " + root_.string() +
                "/lock: Resource temporarily unavailable (another rdtd is running)");
  EXPECT_EQ(std::filesystem::status(root_ / "lock").permissions(), std::filesystem::perms(0600));
}

// What lies where the new text is written first is no way to another file.
TEST_F(Files, ReplaceFollowsNoLink) {
  put("secret", "mine\n");
  std::filesystem::create_symlink(root_ / "secret", root_ / ".out.new");
  const auto directory = Directory::open(root_.string());
  ASSERT_TRUE(directory->replace("out", "text\n"));
  EXPECT_EQ(directory->read("out").value_or(""), "text\n");
  EXPECT_EQ(directory->read("secret").value_or(""), "mine\n");
  std::filesystem::create_directory(root_ / "folder");
  EXPECT_FALSE(directory->replace("folder", "text\n"));
  EXPECT_FALSE(std::filesystem::exists(root_ / ".folder.new"));
}

// As rdtctl snapshot makes one, and whoever keeps one under version control.
TEST_F(Files, ACopyHasOtherDirectoriesToo) {
  fs::copy(RDTD_TEST_DATA "/xeon-2s", root_, fs::copy_options::recursive);
  put(".rdtd/groups", "a\n");
  put(".git/HEAD", "ref\n");
  const auto snapshot = Tree::open(root_.string())->read_snapshot({});
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  for (const char* name : {".rdtd", ".git"}) {
    EXPECT_FALSE(snapshot->groups.contains(name));
    EXPECT_FALSE(snapshot->unreadable.contains(name));
  }
}

TEST(Tree, CapturedMachine) {
  const auto tree = Tree::open(RDTD_TEST_DATA "/xeon-2s");
  ASSERT_TRUE(tree) << tree.error().text();
  const auto capabilities = tree->read_capabilities({});
  ASSERT_TRUE(capabilities) << capabilities.error().text();
  const CacheInfo& l3 = capabilities->caches.at(Resource::L3);
  EXPECT_EQ(l3.cbm_mask, Cbm{0xfffff});
  EXPECT_EQ(l3.min_cbm_bits, 1U);
  EXPECT_EQ(l3.num_closids, 16U);
  EXPECT_EQ(l3.way_bytes,
            (std::map<DomainId, uint64_t>{{DomainId{0}, 65536}, {DomainId{1}, 65536}}));
  const BandwidthInfo& mb = capabilities->bandwidths.at(Resource::MB);
  EXPECT_EQ(mb.unit, BandwidthUnit::percent);
  EXPECT_EQ(mb.bandwidth_gran, 10U);
  EXPECT_EQ(mb.min_bandwidth, 10U);
  EXPECT_EQ(capabilities->num_closids(), 8U);
  EXPECT_EQ(capabilities->num_rmids, 64U);
  const auto snapshot = tree->read_snapshot({"redis"});
  ASSERT_TRUE(snapshot) << snapshot.error().text();
  EXPECT_EQ(format_schemata(snapshot->groups.at("redis").schemata), "L3:0=f;1=f\nMB:0=100;1=100\n");
  EXPECT_EQ(snapshot->groups.at("redis").mode, Mode::exclusive);
  EXPECT_EQ(snapshot->online_cpus(), (CpuSet{0, 1, 2, 3}));
}

TEST_F(Files, TreeErrors) {
  EXPECT_EQ(
      Tree::open(root_.string()).error().text(),
      "cannot use " + root_.string() +
          ": No such device (no resctrl is mounted here: systemctl start sys-fs-resctrl.mount)");
  EXPECT_EQ(Tree::open("/nonexistent").error().text(),
            "cannot open /nonexistent: No such file or directory");
  // A failure does not say that there is none.
  fs::create_symlink("schemata", root_ / "schemata");
  EXPECT_EQ(Tree::open(root_.string()).error().text(),
            "cannot open " + root_.string() +
                "/schemata: Too many levels of symbolic links (it is a symbolic link)");
  fs::remove(root_ / "schemata");
  put("mode", "shareable\n");
  put("schemata", "L3:0=zz\n");
  put("cpus_list", "0\n");
  const auto tree = Tree::open(root_.string());
  ASSERT_TRUE(tree);
  EXPECT_EQ(
      tree->read_capabilities({}).error().text(),
      "cannot understand " + root_.string() + "/schemata: cannot read schemata line 'L3:0=zz'");
}

// The machine that an example is for.
Capabilities machine_for(const std::string& example) {
  Capabilities out = test::machine(20, 2);
  if (example == "10-amd-server.toml")
    for (auto& [domain, unlimited] : out.bandwidths.at(Resource::MB).unlimited) unlimited = 2048;
  if (example == "10-amd-server.toml")
    out.bandwidths.at(Resource::MB).unit = BandwidthUnit::eighth_gbps;
  const CacheInfo cache = out.caches.at(Resource::L3);
  if (example == "10-code-and-data.toml")
    out.caches = {{Resource::L3CODE, cache}, {Resource::L3DATA, cache}};
  if (example == "10-io-ways.toml") {
    out.caches.at(Resource::L3).io_alloc = true;
    out.bandwidths.at(Resource::MB).num_closids = cache.num_closids;
  }
  if (example == "10-locked-buffer.toml") out.caches = {{Resource::L2, cache}};
  return out;
}

TEST(Examples, AreValid) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(RDTD_EXAMPLES)) {
    if (entry.path().extension() != ".toml") continue;
    const ParsedPolicy parsed = parse_policy(std::vector{read_policy_file(entry.path().string())});
    EXPECT_EQ(format_diagnostics(parsed.diagnostics, parsed.policy.sources), "");
    const Capabilities capabilities = machine_for(entry.path().filename().string());
    const auto plan = make_plan(parsed.policy, capabilities, test::untouched(capabilities));
    EXPECT_TRUE(plan) << entry.path() << format_diagnostics(plan.error(), parsed.policy.sources);
    count++;
  }
  EXPECT_GT(count, 0U);
}

}  // namespace
}  // namespace rdtd
