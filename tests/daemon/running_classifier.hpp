// A Classifier in a thread of the test's.
#pragma once

#include <chrono>
#include <memory>
#include <thread>

#include "rdtd/daemon/classifier.hpp"

namespace rdtd::test {

class RunningClassifier {
 public:
  RunningClassifier() = default;
  RunningClassifier(const RunningClassifier&) = delete;
  RunningClassifier& operator=(const RunningClassifier&) = delete;
  ~RunningClassifier() { end(); }

  void run(int requests_fd, std::chrono::milliseconds error_pause) {
    classifier_ = std::move(*Classifier::make(requests_fd, error_pause));
    thread_ = std::thread([this] { classifier_->run(); });
  }
  void end() {
    if (!thread_.joinable()) return;
    classifier_->stop();
    thread_.join();
    classifier_.reset();
  }
  Classifier* operator->() const { return classifier_.get(); }
  [[nodiscard]] Classifier* get() const { return classifier_.get(); }

 private:
  std::unique_ptr<Classifier> classifier_;
  std::thread thread_;
};

}  // namespace rdtd::test
