// Calls: counts and records the calls that code under test makes, runs a hook before each, and
// makes chosen ones fail.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rdtd::fake {

struct Call {
  size_t number = 0;      // the first one is 1
  std::string operation;  // the name of the function
  std::string path;       // of a Process its pid; "" for the root directory
  std::string argument;   // the text of a write, without its last line break

  // "write redis/schemata 'L3:0=f'"
  [[nodiscard]] std::string text() const;
};

class Calls {
 public:
  // A call that fails after its effect: the caller sees an error although everything was done.
  enum class When { before_effect, after_effect };
  struct Failure {
    int code = 0;
    When when = When::before_effect;
  };

  // Runs before each call, after it was recorded. It may change the fakes with the functions that
  // are not counted, and set failures; it must make no counted call.
  std::function<void(const Call&)> hook;

  // The call with this number fails; numbers begin again with reset().
  void fail(size_t number, int code, When when = When::before_effect);
  // Every call that matches fails, until reset().
  void fail_if(std::function<bool(const Call&)> matches, int code, When when = When::before_effect);
  // Forgets the calls and the failures, not the hook.
  void reset();

  [[nodiscard]] size_t count() const { return log_.size(); }
  [[nodiscard]] const std::vector<Call>& log() const { return log_; }
  // The texts of all calls.
  [[nodiscard]] std::vector<std::string> texts() const;
  // The texts of the calls that change something: make, remove, write, add.
  [[nodiscard]] std::vector<std::string> changes() const;

  // For the fakes: a call begins.
  [[nodiscard]] std::optional<Failure> begin(std::string operation, std::string path,
                                             std::string argument = {});

 private:
  struct Rule {
    std::function<bool(const Call&)> matches;
    Failure failure;
  };
  std::vector<Rule> rules_;
  std::vector<Call> log_;
};

}  // namespace rdtd::fake
