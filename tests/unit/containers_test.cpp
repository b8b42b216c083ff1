// The names of containers and pods, from files as the kubelet, Docker, podman and CRI-O write them.
#include "rdtd/proc/containers.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include "files.hpp"

namespace rdtd::proc {
namespace {

const std::string uid = "8f2c1d3e-0000-4abc-9def-0123456789ab";

std::string id(char digit) { return std::string(64, digit); }
std::string of_docker(char digit) { return "/system.slice/docker-" + id(digit) + ".scope"; }
std::string of_podman(char digit) { return "/machine.slice/libpod-" + id(digit) + ".scope"; }
std::string in_pod(char digit) { return "/kubepods/burstable/pod" + uid + "/" + id(digit); }

class ContainersTest : public Files {
 protected:
  void SetUp() override {
    Files::SetUp();
    containers = *Containers::make(*Directory::open(root_.string()));
  }
  [[nodiscard]] bool wanted() const {
    pollfd question{containers->fd(), POLLIN, 0};
    return ::poll(&question, 1, 0) == 1;
  }
  [[nodiscard]] std::string container(const std::string& cgroup) const {
    return containers->names_of(cgroup).container;
  }
  void put_docker(char digit, const std::string& config) const {
    put("var/lib/docker/containers/" + id(digit) + "/config.v2.json", config);
  }

  std::unique_ptr<Containers> containers;
};

TEST_F(ContainersTest, OfEachRuntime) {
  put_docker('1',
             R"({"State":{"Running":true},"ID":"x","Name":"/web","Config":{"Image":"nginx"}})");
  put("var/lib/containers/storage/overlay-containers/containers.json",
      R"([{"id":")" + id('2') + R"(","names":["redis"],"layer":"a"},{"id":")" + id('3') + R"("}])");
  put("run/containers/storage/overlay-containers/volatile-containers.json",
      R"([{"id":")" + id('4') + R"(","names":["once","other"]}])");
  put("var/log/pods/shop_redis-0_" + uid + "/redis/0.log", "");
  put("var/log/containers/redis-0_shop_redis-main-" + id('5') + ".log", "");
  EXPECT_FALSE(containers->refresh().unreadable);
  EXPECT_EQ(container(of_docker('1')), "web");
  EXPECT_EQ(container(of_podman('2')), "redis");
  EXPECT_EQ(container(of_podman('3')), "");
  EXPECT_EQ(container(of_podman('4')), "once");
  EXPECT_EQ(containers->names_of(in_pod('5')), (ContainerNames{"shop/redis-0", "redis-main"}));
  EXPECT_EQ(containers->names_of(in_pod('6')), (ContainerNames{"shop/redis-0", ""}));
}

// Docker calls the containers that it runs for Kubernetes "k8s_...".
TEST_F(ContainersTest, TheNameOfKubernetesComesFirst) {
  put_docker('5', R"({"Name":"/k8s_redis_redis-0_shop"})");
  put("var/log/containers/redis-0_shop_redis-" + id('5') + ".log", "");
  (void)containers->refresh();
  EXPECT_EQ(container(in_pod('5')), "redis");
}

// Asking never reads a file: a name that comes later is looked for, less and less often.
TEST_F(ContainersTest, AnUnknownOneIsLookedForAgain) {
  EXPECT_FALSE(wanted());
  EXPECT_EQ(container(of_docker('1')), "");
  EXPECT_TRUE(wanted());
  EXPECT_EQ(containers->refresh().again_in, std::chrono::milliseconds(100));
  EXPECT_FALSE(wanted());
  EXPECT_EQ(containers->refresh().again_in, std::chrono::milliseconds(200));
  EXPECT_EQ(containers->changes(), 0U);
  put_docker('1', R"({"Name":"/web"})");
  EXPECT_EQ(containers->refresh().again_in, std::chrono::milliseconds(0));
  EXPECT_EQ(containers->changes(), 1U);
  EXPECT_EQ(container(of_docker('1')), "web");
  EXPECT_FALSE(wanted());
  (void)containers->refresh();
  EXPECT_EQ(containers->changes(), 1U);
}

TEST_F(ContainersTest, TheSearchEnds) {
  (void)container(of_docker('1'));
  int tries = 1;
  std::chrono::milliseconds longest{0}, sum{0};
  for (auto pause = containers->refresh().again_in; pause.count() > 0; tries++) {
    longest = std::max(longest, pause);
    sum += pause;
    pause = containers->refresh().again_in;
  }
  EXPECT_EQ(tries, Containers::max_tries);
  EXPECT_EQ(longest, std::chrono::milliseconds(6400));
  EXPECT_EQ(sum, std::chrono::milliseconds(89'500));
  (void)container(of_docker('1'));
  EXPECT_FALSE(wanted());
  // The next container is looked for all the same.
  (void)container(of_docker('2'));
  EXPECT_TRUE(wanted());
  EXPECT_EQ(containers->refresh().again_in, std::chrono::milliseconds(100));
}

TEST_F(ContainersTest, ProcessesInNoneAreNotLookedFor) {
  EXPECT_EQ(containers->names_of("/system.slice/redis.service"), ContainerNames{});
  EXPECT_EQ(containers->names_of(""), ContainerNames{});
  EXPECT_FALSE(wanted());
}

// An error is no answer: the names stay, and it is said.
TEST_F(ContainersTest, WhatCannotBeReadKeepsItsNames) {
  put_docker('1', R"({"Name":"/web"})");
  put("var/lib/containers/storage/overlay-containers/containers.json",
      R"([{"id":")" + id('2') + R"(","names":["redis"]}])");
  ASSERT_FALSE(containers->refresh().unreadable);
  put_docker('1', R"({"Name":"/we)");
  put_docker('3', R"({"Name":"/other"})");
  put("var/lib/containers/storage/overlay-containers/containers.json",
      R"([{"id":")" + id('2') + R"(","names":["valkey"]}])");
  const auto refreshed = containers->refresh();
  ASSERT_TRUE(refreshed.unreadable);
  EXPECT_EQ(refreshed.unreadable->text(), "cannot parse " + root_.string() +
                                              "/var/lib/docker/containers/" + id('1') +
                                              "/config.v2.json: Bad message (it is not JSON)");
  EXPECT_EQ(container(of_docker('1')), "web");
  EXPECT_EQ(container(of_docker('3')), "other");
  EXPECT_EQ(container(of_podman('2')), "valkey");
}

// JSON of another form has no names, and breaks nothing.
TEST_F(ContainersTest, OtherForms) {
  put_docker('1', R"(["Name"])");
  put_docker('2', R"({"Name":7})");
  put_docker('3', "null");
  put("var/lib/docker/containers/readme", "");
  put("var/lib/containers/storage/vfs-containers/containers.json",
      R"([1,{"id":7,"names":["a"]},{"names":"a"},{"names":[]},{"names":[3]}])");
  put("var/lib/containers/storage/other-containers/containers.json", R"({"id":"x"})");
  put("var/log/pods/a_b", "");
  put("var/log/pods/a_b_c_d", "");
  put("var/log/containers/a_b_c.log", "");
  put("var/log/containers/a_b_c-1.txt", "");
  EXPECT_FALSE(containers->refresh().unreadable);
  for (const char digit : {'1', '2', '3'}) EXPECT_EQ(container(of_docker(digit)), "");
}

}  // namespace
}  // namespace rdtd::proc
