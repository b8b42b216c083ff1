// FileName: the name of a file that many places share, so that each of them takes little memory.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>

namespace rdtd {

class FileName {
 public:
  FileName() = default;
  FileName(const char* name) : FileName(std::string(name)) {}  // implicit: it is a string
  FileName(std::string name)
      : name_(name.empty() ? nullptr : std::make_shared<const std::string>(std::move(name))) {}

  [[nodiscard]] const std::string& text() const {
    static const std::string none;
    return name_ ? *name_ : none;
  }
  operator const std::string&() const { return text(); }
  [[nodiscard]] bool empty() const { return name_ == nullptr; }

  friend bool operator==(const FileName& one, const FileName& other) {
    return one.name_ == other.name_ || one.text() == other.text();
  }
  friend bool operator==(const FileName& one, std::string_view other) {
    return one.text() == other;
  }
  friend bool operator==(const FileName& one, const std::string& other) {
    return one.text() == other;
  }
  friend bool operator==(const FileName& one, const char* other) { return one.text() == other; }
  friend std::strong_ordering operator<=>(const FileName& one, const FileName& other) {
    return one.text() <=> other.text();
  }

 private:
  std::shared_ptr<const std::string> name_;  // null: empty
};

}  // namespace rdtd
