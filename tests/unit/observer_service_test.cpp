// rdtd-observer on the bus: what it answers, and what it hears of the daemon.
#include "rdtd/bus/observer_service.hpp"

#include "bus_world.hpp"
#include "rdtd/observe/recording.hpp"

namespace rdtd {
namespace {

class ObserverServiceTest : public test::BusTest {
 protected:
  void SetUp() override {
    BusTest::SetUp();
    if (IsSkipped()) return;
    start_all();
    observer_ = open();
    wait_for([&] { return named_ > 0; });
    client_ = connect(0);
  }
  void TearDown() override {
    observer_.reset();
    BusTest::TearDown();
  }
  std::unique_ptr<ObserverService> open() {
    auto out = ObserverService::open(
        event_,
        {.episodes =
             [this](uint64_t since) {
               since_ = since;
               return std::vector{episode};
             },
         .counts =
             [] { return std::vector<ContentionCount>{{"L3", 1, "cache", "a", "b", 2, 1.5}}; },
         .guard =
             [] {
               return GuardStatus{.mode = "on", .problem = "why", .steps = {{7, "on", "text"}}};
             },
         .on_mark = [this](std::string mark) { heard_.push_back(std::move(mark)); },
         .on_reloaded = [this] { heard_.emplace_back("reloaded"); },
         .on_name = [this] { named_++; },
         .on_end = [this](const Error& cause) { ended_.push_back(cause.text()); }});
    EXPECT_TRUE(out);
    return out ? std::move(*out) : nullptr;
  }
  test::Reply ask(const char* method, std::optional<uint64_t> argument = {}) {
    sd_bus_message* made = nullptr;
    EXPECT_GE(sd_bus_message_new_method_call(client_, &made, observer_name, observer_path,
                                             observer_interface, method),
              0);
    const Message request(made);
    if (argument) {
      EXPECT_GE(wire::append_all(made, *argument), 0);
    }
    std::vector<test::Reply> replies;
    send(client_, request, replies);
    wait_for([&] { return !replies.empty(); });
    return replies.empty() ? test::Reply{} : std::move(replies.front());
  }

  const EpisodeRow episode{"cache", "L3", 1, 5, 9, false, {"batch"}, {"redis"}, "batch took"};
  std::unique_ptr<ObserverService> observer_;
  sd_bus* client_ = nullptr;
  uint64_t since_ = 0;
  int named_ = 0;
  std::vector<std::string> heard_, ended_;
};

TEST_F(ObserverServiceTest, Answers) {
  const auto rows = ask("ListEpisodes", 42).read<std::vector<EpisodeRow>>();
  EXPECT_EQ(since_, 42U);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(fields(rows[0]), fields(episode));
  const auto counts = ask("ListContention").read<std::vector<ContentionCount>>();
  ASSERT_EQ(counts.size(), 1U);
  EXPECT_EQ(counts[0].seconds, 1.5);
  const test::Reply guard = ask("ShowGuard");
  EXPECT_EQ(guard.read<std::string>(), "on");
  EXPECT_EQ(guard.read<std::string>(), "why");
  EXPECT_TRUE(guard.read<std::vector<GuardAmount>>().empty());
  const auto steps = guard.read<std::vector<GuardStepRow>>();
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].text, "text");
}

TEST_F(ObserverServiceTest, MarksWhatTheDaemonAnnounces) {
  service_->emit_reloaded(true);
  service_->emit_reloaded(false);
  service_->emit_drift("what");
  service_->emit_lease_ended("bench", "why");
  // Its own.
  service_->emit_lease_ended(guard_lease_name, "why");
  service_->emit_drift("last");
  wait_for([&] { return !heard_.empty() && heard_.back() == "drift: last"; });
  EXPECT_EQ(heard_,
            (std::vector<std::string>{observe::loaded_mark, "reloaded", "a policy was refused",
                                      "drift: what", "lease bench ended: why", "drift: last"}));
}

TEST_F(ObserverServiceTest, TellsOfEpisodes) {
  std::vector<EpisodeRow> received;
  const auto on_signal = [](sd_bus_message* signal, void* to, sd_bus_error*) {
    EpisodeRow row;
    EXPECT_GE(wire::read(signal, row), 0);
    static_cast<std::vector<EpisodeRow>*>(to)->push_back(row);
    return 0;
  };
  ASSERT_GE(sd_bus_match_signal(client_, nullptr, observer_name, observer_path, observer_interface,
                                "EpisodeEnded", on_signal, &received),
            0);
  observer_->emit_episode(episode);
  wait_for([&] { return !received.empty(); });
  EXPECT_EQ(received[0].text, episode.text);
}

// Nobody keeps it busy, as nobody keeps the daemon busy.
TEST_F(ObserverServiceTest, RefusesWhatCostsTooMuch) {
  const auto error_of = [&](const std::string& path, const std::string& argument) {
    sd_bus_message* made = nullptr;
    EXPECT_GE(sd_bus_message_new_method_call(client_, &made, observer_name, path.c_str(),
                                             observer_interface, "ListEpisodes"),
              0);
    const Message request(made);
    EXPECT_GE(wire::append_all(made, argument), 0);
    std::vector<test::Reply> replies;
    send(client_, request, replies);
    wait_for([&] { return !replies.empty(); });
    return replies.empty() ? "" : replies.front().error_text();
  };
  std::string path;
  for (int i = 0; i < 1000; i++) path += "/a";
  EXPECT_EQ(error_of(path, ""), "there is no object with such a path");
  EXPECT_EQ(error_of(observer_path, std::string(200'000, 'x')), "a request has at most 80 KiB");
  EXPECT_EQ(ask("ListContention").error(), "");
}

// There is one observer, and it knows when the bus has gone.
TEST_F(ObserverServiceTest, EndsWithoutItsNameOrTheBus) {
  const auto second = open();
  wait_for([&] { return !ended_.empty(); });
  EXPECT_EQ(ended_.back(),
            "cannot take the name org.rdtd1.Observer on the system bus: File exists");
  EXPECT_EQ(named_, 1);
  ended_.clear();
  stop_bus();
  wait_for([&] { return ended_.size() >= 2; });
  EXPECT_EQ(ended_.back(), "cannot stay on the system bus: Connection reset by peer");
}

}  // namespace
}  // namespace rdtd
