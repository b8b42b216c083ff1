// A lease that a program with an event loop holds.
#include "rdtd/bus/lease_holder.hpp"

#include "bus_program.hpp"

namespace rdtd {
namespace {

class LeaseHolderTest : public test::BusProgramTest {
 protected:
  void SetUp() override {
    BusProgramTest::SetUp();
    if (IsSkipped()) return;
    holder_ = std::make_unique<LeaseHolder>(
        event_, "guard",
        LeaseHolder::Handlers{.on_granted = [this] { log_.emplace_back("granted"); },
                              .on_refused = [this](const std::string& why) { log_.push_back(why); },
                              .on_ended = [this] { log_.emplace_back("ended"); }});
  }
  void TearDown() override {
    holder_.reset();
    BusProgramTest::TearDown();
  }
  // What it says next.
  std::string next() {
    log_.clear();
    wait_for([&] { return !log_.empty(); });
    return log_.empty() ? "" : log_.front();
  }
  [[nodiscard]] bool is_held() {
    pollfd end{.fd = manager_.leases["guard"].get(), .events = 0, .revents = 0};
    return ::poll(&end, 1, 0) == 0;
  }
  // The bus may have a copy of the descriptor for a moment after it has passed it on.
  void wait_for_end() {
    wait_for([this] { return !is_held(); });
  }

  std::unique_ptr<LeaseHolder> holder_;
  std::vector<std::string> log_;
};

TEST_F(LeaseHolderTest, AsksOnceAndThenChangesIt) {
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
  EXPECT_TRUE(is_held());
  holder_->want(bus_, "two");
  EXPECT_EQ(next(), "granted");
  EXPECT_EQ(manager_.updates, std::vector<std::string>{"two"});
  // The same again is no question.
  holder_->want(bus_, "two");
  holder_->want(bus_, "three");
  EXPECT_EQ(next(), "granted");
  EXPECT_EQ(manager_.updates, (std::vector<std::string>{"two", "three"}));
}

TEST_F(LeaseHolderTest, NothingToWantEndsIt) {
  holder_->want(bus_, "");
  EXPECT_TRUE(manager_.leases.empty());
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
  holder_->want(bus_, "");
  wait_for_end();
  holder_->want(bus_, "two");
  EXPECT_EQ(next(), "granted");
  EXPECT_TRUE(is_held());
  EXPECT_TRUE(manager_.updates.empty());
  holder_->release();
  wait_for_end();
}

TEST_F(LeaseHolderTest, ARefusalChangesNothing) {
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
  // As if the daemon had another idea of it.
  UniqueFd lease = std::move(manager_.leases["guard"]);
  manager_.leases.erase("guard");
  holder_->want(bus_, "two");
  EXPECT_EQ(next(), "there is no lease");
  manager_.leases["guard"] = std::move(lease);
  EXPECT_TRUE(is_held());
  holder_->want(bus_, "two");
  EXPECT_EQ(next(), "granted");
}

// What is in force then may be stricter than what is wanted.
TEST_F(LeaseHolderTest, AfterThreeRefusalsItIsLetGo) {
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
  UniqueFd lease = std::move(manager_.leases["guard"]);
  manager_.leases.erase("guard");
  for (int i = 0; i < 3; i++) {
    manager_.leases.erase("guard");
    // Also if it is what was in force before.
    EXPECT_TRUE(holder_->want(bus_, i == 1 ? "one" : "two"));
    EXPECT_EQ(next(), "there is no lease");
    EXPECT_EQ(log_.size(), i < 2 ? 1U : 2U);
  }
  EXPECT_EQ(log_.back(), "ended");
  manager_.leases["guard"] = std::move(lease);
  EXPECT_FALSE(is_held());
  manager_.leases.erase("guard");
  holder_->want(bus_, "two");
  EXPECT_EQ(next(), "granted");
}

TEST_F(LeaseHolderTest, TheDaemonEndsIt) {
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
  manager_.leases.clear();
  EXPECT_EQ(next(), "ended");
  holder_->want(bus_, "one");
  EXPECT_EQ(next(), "granted");
}

TEST_F(LeaseHolderTest, WithoutABusOrADaemon) {
  log_.clear();
  holder_->want(nullptr, "one");
  EXPECT_EQ(log_, std::vector<std::string>{"there is no connection to the system bus"});
  service_.reset();
  holder_->want(bus_, "one");
  EXPECT_NE(next().find("org.rdtd1"), std::string::npos);
}

// An answer that comes after all was let go takes nothing.
TEST_F(LeaseHolderTest, ReleasedBeforeTheAnswer) {
  holder_->want(bus_, "one");
  holder_->release();
  wait_for([&] { return manager_.leases.contains("guard"); });
  wait_for([&] { return !is_held(); });
  EXPECT_TRUE(log_.empty());
}

}  // namespace
}  // namespace rdtd
