#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "rdtd/proc/users.hpp"

namespace rdtd::proc {
namespace {

int answered = 0;

template <int code>
int user_failing(const char*, passwd*, char*, size_t, passwd** found) {
  *found = nullptr;
  return code;
}

// A group with more members than most buffers hold.
int large_group(const char*, group* entry, char*, size_t size, group** found) {
  *found = nullptr;
  if (++answered == 1) return EINTR;
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
  using enum UserName::Kind;
  const auto answers = user_database()({{user, "root"}, {user_group, "no such group"}});
  EXPECT_EQ(answers.at(0).value(), std::optional<uid_t>(0));
  EXPECT_EQ(answers.at(1).value(), std::optional<gid_t>());
}

TEST(Users, BufferGrows) {
  answered = 0;
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

const UserName name_a{UserName::Kind::user, "a"};

// A directory server: it answers each name once it is let go on.
struct Server {
  struct State {
    std::counting_semaphore<> go_on{0};
    std::mutex mutex;
    std::vector<std::string> asked;
    std::map<std::string, UserAnswer> known;
  };
  std::shared_ptr<State> state = std::make_shared<State>();

  [[nodiscard]] UserDatabase database() const {
    return [state = state](const std::vector<UserName>& names) {
      std::vector<UserAnswer> out;
      for (const UserName& name : names) {
        {
          const std::lock_guard lock(state->mutex);
          state->asked.push_back(name.name);
        }
        state->go_on.acquire();
        const std::lock_guard lock(state->mutex);
        out.push_back(state->known.at(name.name));
      }
      return out;
    };
  }
  [[nodiscard]] std::string asked() const {
    const std::lock_guard lock(state->mutex);
    std::string out;
    for (const std::string& name : state->asked) out += name;
    return out;
  }
  // On a busy machine it comes to that later.
  [[nodiscard]] bool was_asked(const std::string& names) const {
    for (int i = 0; i < 2000 && asked() != names; i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return asked() == names;
  }
};

const std::vector<UserName> abc{
    {UserName::Kind::user, "a"}, {UserName::Kind::user, "b"}, {UserName::Kind::user_group, "c"}};

std::string text_of(const std::vector<UserAnswer>& answers) {
  std::string out;
  for (const UserAnswer& answer : answers)
    out += (!answer ? answer.error().text() : !*answer ? "none" : std::to_string(**answer)) + "\n";
  return out;
}

TEST(Users, OneDeadlineIsForAllNames) {
  Server server;
  server.state->known = {{"a", 7U}, {"b", std::nullopt}, {"c", 9U}};
  const UserDatabase database = with_deadline(server.database(), std::chrono::milliseconds(20));
  const std::string nothing =
      "cannot look up user 'a': the user database does not answer\n"
      "cannot look up user 'b': the user database does not answer\n"
      "cannot look up user group 'c': the user database does not answer\n";
  EXPECT_EQ(text_of(database(abc)), nothing);
  // Nobody waits for it, nor asks again, while it goes on.
  EXPECT_EQ(text_of(database(abc)), nothing);
  ASSERT_TRUE(server.was_asked("a"));
  server.state->go_on.release();
  ASSERT_TRUE(server.was_asked("ab"));
  EXPECT_EQ(text_of(database(abc)),
            "7\ncannot look up user 'b': the user database does not answer\n"
            "cannot look up user group 'c': the user database does not answer\n");
  server.state->go_on.release(2);
  ASSERT_TRUE(server.was_asked("abc"));
  // Its late answers are good, but b may have been added since. It is done a moment after them.
  server.state->known.at("b") = 8U;
  server.state->go_on.release(2);
  const auto all_there = [&] { return text_of(database(abc)) == "7\n8\n9\n"; };
  for (int i = 0; i < 2000 && !all_there(); i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_TRUE(all_there());
  EXPECT_EQ(server.asked(), "abcb");
}

TEST(Users, ADatabaseThatIsQuickIsAskedEachTime) {
  Server server;
  server.state->known = {{"a", std::nullopt}};
  server.state->go_on.release(2);
  const UserDatabase database = with_deadline(server.database(), std::chrono::seconds(20));
  EXPECT_EQ(text_of(database({name_a})), "none\n");
  server.state->known.at("a") = 7U;
  EXPECT_EQ(text_of(database({name_a})), "7\n");
}

// Each name might take as long as the server's timeout.
TEST(Users, NoNameIsAskedForAfterAFailure) {
  Server server;
  server.state->known = {
      {"a", 7U}, {"b", std::unexpected(Error{"look up", "user 'b'", EIO, {}})}, {"c", 9U}};
  server.state->go_on.release(4);
  const UserDatabase database = with_deadline(server.database(), std::chrono::seconds(20));
  EXPECT_EQ(text_of(database(abc)),
            "7\ncannot look up user 'b': Input/output error\n"
            "cannot look up user group 'c': the user database does not answer\n");
  EXPECT_EQ(server.asked(), "ab");
}

}  // namespace
}  // namespace rdtd::proc
