// ArgumentVector: the words of a command as execvp(3) takes them. They are put together before a
// fork where the child must not allocate.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace rdtd {

class ArgumentVector {
 public:
  explicit ArgumentVector(std::vector<std::string> words) : words_(std::move(words)) {
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  ArgumentVector(const ArgumentVector&) = delete;
  ArgumentVector& operator=(const ArgumentVector&) = delete;

  // Returns only if the command cannot be executed: the errno.
  int execute() {
    ::execvp(pointers_.front(), pointers_.data());
    return errno;
  }
  // Why it could not be executed, by this errno.
  [[nodiscard]] std::string failure(int error) const;
  [[nodiscard]] const std::string& command() const { return words_.front(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

}  // namespace rdtd
