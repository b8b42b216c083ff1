// Definitions: the tables of one kind in all files, [group.NAME] for instance.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace rdtd {

// Definitions of one kind, in the order of the files. A name has one definition only, unless a
// later one replaces it.
template <class T>
class Definitions {
 public:
  // The earlier definition that this one may not replace, if there is one.
  const T* add(T definition, bool replaces) {
    if (!replaces) has_plain_ = true;
    const auto [entry, is_new] = index_.emplace(definition.name.value, all_.size());
    if (!is_new) {
      if (!replaces) return &*all_[entry->second];
      all_[entry->second].reset();
      entry->second = all_.size();
    }
    all_.emplace_back(std::move(definition));
    return nullptr;
  }
  [[nodiscard]] bool contains(const std::string& name) const { return index_.contains(name); }
  // Whether there is one that was not to replace another.
  [[nodiscard]] bool has_plain() const { return has_plain_; }
  [[nodiscard]] size_t size() const { return index_.size(); }
  // Null if there is none.
  [[nodiscard]] T* find(const std::string& name) {
    const auto entry = index_.find(name);
    return entry == index_.end() ? nullptr : &*all_[entry->second];
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& [name, position] : index_) out.push_back(name);
    return out;
  }
  std::vector<T> take() {
    std::vector<T> out;
    for (std::optional<T>& definition : all_)
      if (definition) out.push_back(std::move(*definition));
    return out;
  }

 private:
  std::vector<std::optional<T>> all_;
  std::map<std::string, size_t> index_;
  bool has_plain_ = false;
};

}  // namespace rdtd
