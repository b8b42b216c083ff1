// SharedText: a text that many values share, such as the name of a file or what it contains, so
// that a copy takes little memory.
#pragma once

#include <compare>
#include <memory>
#include <string>
#include <string_view>

namespace rdtd {

class SharedText {
 public:
  SharedText() = default;
  SharedText(const char* text) : SharedText(std::string(text)) {}  // implicit: it is a string
  SharedText(std::string text)
      : text_(text.empty() ? nullptr : std::make_shared<const std::string>(std::move(text))) {}

  [[nodiscard]] const std::string& text() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  operator const std::string&() const { return text(); }
  [[nodiscard]] bool empty() const { return text_ == nullptr; }

  friend bool operator==(const SharedText& one, const SharedText& other) {
    return one.text_ == other.text_ || one.text() == other.text();
  }
  friend bool operator==(const SharedText& one, std::string_view other) {
    return one.text() == other;
  }
  friend bool operator==(const SharedText& one, const std::string& other) {
    return one.text() == other;
  }
  friend bool operator==(const SharedText& one, const char* other) { return one.text() == other; }
  friend std::strong_ordering operator<=>(const SharedText& one, const SharedText& other) {
    return one.text() <=> other.text();
  }

 private:
  std::shared_ptr<const std::string> text_;  // null: empty
};

}  // namespace rdtd
