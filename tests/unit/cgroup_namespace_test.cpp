// Paths of cgroups in a cgroup namespace. The trees are ordinary directories that look like /proc
// and a cgroup hierarchy.
#include <gtest/gtest.h>

#include <unistd.h>

#include "files.hpp"
#include "rdtd/proc/cgroup_namespace.hpp"

namespace rdtd::proc {
namespace {

TEST(FromHierarchy, Table) {
  const struct {
    const char *root, *shown, *path;
  } rows[] = {
      {"", "/", "/"},
      {"", "/a.slice/b.service", "/a.slice/b.service"},
      {"/a/b/c", "/", "/a/b/c"},
      {"/a/b/c", "/d", "/a/b/c/d"},
      {"/a/b/c", "/..", "/a/b"},
      {"/a/b/c", "/../d", "/a/b/d"},
      {"/a/b/c", "/../../../init.scope", "/init.scope"},
      {"/a/b/c", "/../../..", "/"},
      {"/a/b/c", "/..d/e", "/a/b/c/..d/e"},
      {"/a", "/../../b", "/b"},  // no more ancestors than there are
  };
  for (const auto& row : rows) EXPECT_EQ(from_hierarchy(row.root, row.shown), row.path);
}

class Namespaces : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "only root's cgroups are looked at";
    for (const char* cgroup : {"", "init.scope/", "pods.slice/", "pods.slice/ours.scope/"})
      put("cgroup/" + std::string(cgroup) + "cgroup.procs", "");
  }
  std::string find(const std::string& hierarchy = "cgroup") {
    const auto found = find_namespace_root(*Directory::open((root_ / hierarchy).string()),
                                           *Directory::open((root_ / "proc").string()), 77);
    return found ? *found : found.error().text();
  }
  void shows(const std::string& ours, const std::string& init) {
    put("proc/self/cgroup", "0::" + ours + "\n");
    put("proc/1/cgroup", "0::" + init + "\n");
  }
};

TEST_F(Namespaces, OfAHost) {
  put("cgroup/pods.slice/ours.scope/cgroup.procs", "7\n77\n");
  shows("/pods.slice/ours.scope", "/init.scope");
  EXPECT_EQ(find(), "");
}

TEST_F(Namespaces, OfAContainer) {
  put("cgroup/pods.slice/ours.scope/cgroup.procs", "7\n77\n");
  shows("/", "/../../init.scope");
  EXPECT_EQ(find(), "/pods.slice/ours.scope");
}

// A service of a container that has a systemd of its own.
TEST_F(Namespaces, OfAServiceInAContainer) {
  put("cgroup/pods.slice/ours.scope/a.slice/rdtd.service/cgroup.procs", "77\n");
  put("cgroup/pods.slice/ours.scope/a.slice/cgroup.procs", "");
  shows("/a.slice/rdtd.service", "/../../init.scope");
  EXPECT_EQ(find(), "/pods.slice/ours.scope");
}

TEST_F(Namespaces, WithoutTheHierarchyOfTheHost) {
  put("cgroup/pods.slice/ours.scope/cgroup.procs", "77\n");
  shows("/", "/../../init.scope");
  EXPECT_EQ(find("cgroup/pods.slice/ours.scope"),
            "cannot find the cgroups of the host in " +
                (root_ / "cgroup/pods.slice/ours.scope").string());
}

TEST_F(Namespaces, CgroupsOfUsersAreNotLookedAt) {
  put("cgroup/pods.slice/ours.scope/cgroup.procs", "77\n");
  ASSERT_EQ(::chown((root_ / "cgroup/pods.slice").c_str(), 1000, 1000), 0);
  shows("/", "/../../init.scope");
  EXPECT_EQ(find(), "cannot find this process in " + (root_ / "cgroup").string());
}

}  // namespace
}  // namespace rdtd::proc
