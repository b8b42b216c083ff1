#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <semaphore>
#include <thread>

#include "rdtd/proc/users.hpp"

namespace rdtd::proc {
namespace {

int answers = 0;

template <int code>
int user_failing(const char*, passwd*, char*, size_t, passwd** found) {
  *found = nullptr;
  return code;
}

// A group with more members than most buffers hold.
int large_group(const char*, group* entry, char*, size_t size, group** found) {
  *found = nullptr;
  if (++answers == 1) return EINTR;
  if (size < 1'000'000) return ERANGE;
  entry->gr_gid = 77;
  *found = entry;
  return 0;
}

int endless_group(const char*, group*, char*, size_t, group** found) {
  *found = nullptr;
  return ERANGE;
}

TEST(Users, Find) {
  EXPECT_EQ(find_user("root").value(), std::optional<uid_t>(0));
  EXPECT_EQ(find_user_group("root").value(), std::optional<gid_t>(0));
  EXPECT_EQ(find_user("no such user").value(), std::optional<uid_t>());
  EXPECT_EQ(find_user_group("no such group").value(), std::optional<gid_t>());
  EXPECT_EQ(user_database().find_user("root").value(), std::optional<uid_t>(0));
  EXPECT_EQ(user_database().find_group("root").value(), std::optional<gid_t>(0));
}

TEST(Users, BufferGrows) {
  answers = 0;
  EXPECT_EQ(find_user_group("everybody", large_group).value(), std::optional<gid_t>(77));
  EXPECT_EQ(find_user_group("endless", endless_group).error().text(),
            "cannot look up user group 'endless': Numerical result out of range");
}

TEST(Users, FailureIsNotAbsence) {
  for (const auto query : {user_failing<0>, user_failing<ENOENT>, user_failing<ESRCH>})
    EXPECT_EQ(find_user("redis", query).value(), std::optional<uid_t>());
  EXPECT_EQ(find_user("redis", user_failing<EIO>).error().text(),
            "cannot look up user 'redis': Input/output error");
  EXPECT_EQ(find_user("redis", user_failing<EMFILE>).error().code, EMFILE);
}

// A directory server that does not answer.
TEST(Users, ASlowDatabaseIsNotWaitedFor) {
  struct State {
    std::counting_semaphore<> answer{0};
    std::atomic<int> asked = 0, answered = 0;
  };
  const auto state = std::make_shared<State>();
  const UserDatabase database =
      with_deadline({[state](const std::string&) -> Result<std::optional<uid_t>> {
                       state->asked++;
                       state->answer.acquire();
                       state->answered++;
                       return 7;
                     },
                     [](const std::string&) { return std::nullopt; }},
                    std::chrono::milliseconds(20));
  EXPECT_EQ(database.find_user("redis").error().text(),
            "cannot look up user 'redis': the user database does not answer");
  // Not asked at all while that goes on.
  EXPECT_EQ(database.find_group("redis").error().text(),
            "cannot look up user group 'redis': the user database does not answer");
  // On a busy machine it comes to that later.
  for (int i = 0; i < 1000 && state->asked == 0; i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(state->asked, 1);
  state->answer.release(2);
  // It is done a moment after its answer.
  std::optional<uid_t> found;
  for (int i = 0; i < 1000 && !found; i++) {
    found = database.find_user("redis").value_or(std::nullopt);
    if (!found) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(found, 7U);
  EXPECT_EQ(state->answered, 2);
  EXPECT_EQ(database.find_group("redis").value(), std::nullopt);
}

}  // namespace
}  // namespace rdtd::proc
