// wire: the one place that appends values to messages of D-Bus and reads them back. A C++ type has
// one D-Bus type:
//
//   std::string s    bool b    uint32_t u    uint64_t t    double d
//   std::vector<T> aT    std::map<K, V> a{KV}
//   std::variant<Ts...> v, which is only appended
//   std::pair, std::tuple, and every struct with a function fields(): a struct of D-Bus
//
// fields() returns std::tie of the members. Functions return a negative errno on failure, as those
// of sd-bus do.
#pragma once

#include <cerrno>
#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "handles.hpp"

namespace rdtd::wire {

// The text as D-Bus accepts it and a terminal shows it: bytes that are not UTF-8 and control
// characters become '?', except for line ends.
[[nodiscard]] std::string clean(std::string_view text);

// Whether the values in a message take so many bytes at most, eight for each in addition to its
// text. Stops where they are more, and leaves the message as it was before it was read.
[[nodiscard]] bool fits(sd_bus_message* message, size_t most);

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_variant = false;
template <class... Ts>
inline constexpr bool is_variant<std::variant<Ts...>> = true;
template <class T>
inline constexpr bool is_map = false;
template <class K, class V>
inline constexpr bool is_map<std::map<K, V>> = true;

// The members of a pair, tuple or struct, as a tuple of references.
template <class T>
auto members(T& value) {
  if constexpr (requires { fields(value); })
    return fields(value);
  else
    return std::apply([](auto&... each) { return std::tie(each...); }, value);
}

template <class T>
[[nodiscard]] const char* signature();

template <class T>
[[nodiscard]] const char* signature_of_members() {
  using Members = decltype(members(std::declval<T&>()));
  static const std::string text = []<class... Ts>(std::type_identity<std::tuple<Ts...>>) {
    return (std::string() + ... + signature<std::remove_cvref_t<Ts>>());
  }(std::type_identity<Members>{});
  return text.c_str();
}

template <class T>
const char* signature() {
  static const std::string text = [] {
    if constexpr (std::same_as<T, std::string>)
      return std::string("s");
    else if constexpr (std::same_as<T, bool>)
      return std::string("b");
    else if constexpr (std::same_as<T, uint32_t>)
      return std::string("u");
    else if constexpr (std::same_as<T, uint64_t>)
      return std::string("t");
    else if constexpr (std::same_as<T, double>)
      return std::string("d");
    else if constexpr (is_variant<T>)
      return std::string("v");
    else if constexpr (is_vector<T>)
      return std::string("a") + signature<typename T::value_type>();
    else if constexpr (is_map<T>)
      return std::string("a{") + signature_of_members<typename T::value_type>() + "}";
    else
      return std::string("(") + signature_of_members<T>() + ")";
  }();
  return text.c_str();
}

template <class T>
[[nodiscard]] int append(sd_bus_message* message, const T& value);

template <class T>
[[nodiscard]] int append_members(sd_bus_message* message, char container, const T& value) {
  int r = sd_bus_message_open_container(message, container, signature_of_members<T>());
  std::apply([&](const auto&... each) { ((r = r < 0 ? r : append(message, each)), ...); },
             members(value));
  return r < 0 ? r : sd_bus_message_close_container(message);
}

template <class T>
int append(sd_bus_message* message, const T& value) {
  if constexpr (std::same_as<T, std::string>) {
    return sd_bus_message_append_basic(message, 's', clean(value).c_str());
  } else if constexpr (std::same_as<T, bool>) {
    const int number = value ? 1 : 0;
    return sd_bus_message_append_basic(message, 'b', &number);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return sd_bus_message_append_basic(message, *signature<T>(), &value);
  } else if constexpr (is_variant<T>) {
    return std::visit(
        [&]<class One>(const One& one) {
          int r = sd_bus_message_open_container(message, 'v', signature<One>());
          if (r >= 0) r = append(message, one);
          return r < 0 ? r : sd_bus_message_close_container(message);
        },
        value);
  } else if constexpr (is_vector<T> || is_map<T>) {
    int r = sd_bus_message_open_container(message, 'a', signature<T>() + 1);
    for (const auto& item : value) {
      if (r < 0) return r;
      if constexpr (is_map<T>)
        r = append_members(message, 'e', item);
      else
        r = append(message, item);
    }
    return r < 0 ? r : sd_bus_message_close_container(message);
  } else {
    return append_members(message, 'r', value);
  }
}

template <class T>
[[nodiscard]] int read(sd_bus_message* message, T& value);

template <class T>
[[nodiscard]] int read_members(sd_bus_message* message, char container, T& value) {
  int r = sd_bus_message_enter_container(message, container, signature_of_members<T>());
  std::apply([&](auto&... each) { ((r = r < 0 ? r : read(message, each)), ...); }, members(value));
  return r < 0 ? r : sd_bus_message_exit_container(message);
}

// -E2BIG if there are more than `most`: a message of a stranger may hold millions.
template <class T>
[[nodiscard]] int read_list(sd_bus_message* message, std::vector<T>& value,
                            size_t most = SIZE_MAX) {
  int r = sd_bus_message_enter_container(message, 'a', signature<T>());
  while (r >= 0 && (r = sd_bus_message_at_end(message, 0)) == 0)
    r = value.size() < most ? read(message, value.emplace_back()) : -E2BIG;
  return r < 0 ? r : sd_bus_message_exit_container(message);
}

template <class T>
int read(sd_bus_message* message, T& value) {
  if constexpr (std::same_as<T, std::string>) {
    const char* text = nullptr;
    const int r = sd_bus_message_read_basic(message, 's', &text);
    value = r > 0 ? text : "";
    return r == 0 ? -ENXIO : r;
  } else if constexpr (std::same_as<T, bool>) {
    int number = 0;
    const int r = sd_bus_message_read_basic(message, 'b', &number);
    value = number != 0;
    return r == 0 ? -ENXIO : r;
  } else if constexpr (std::is_arithmetic_v<T>) {
    const int r = sd_bus_message_read_basic(message, *signature<T>(), &value);
    return r == 0 ? -ENXIO : r;
  } else if constexpr (is_vector<T>) {
    return read_list(message, value);
  } else if constexpr (is_map<T>) {
    int r = sd_bus_message_enter_container(message, 'a', signature<T>() + 1);
    while (r >= 0 && (r = sd_bus_message_at_end(message, 0)) == 0) {
      std::pair<typename T::key_type, typename T::mapped_type> entry;
      if (r = read_members(message, 'e', entry); r >= 0) value.insert(std::move(entry));
    }
    return r < 0 ? r : sd_bus_message_exit_container(message);
  } else {
    return read_members(message, 'r', value);
  }
}

// A value inside a variant, as the values of properties are.
template <class T>
[[nodiscard]] int read_variant(sd_bus_message* message, T& value) {
  int r = sd_bus_message_enter_container(message, 'v', signature<T>());
  if (r >= 0) r = read(message, value);
  return r < 0 ? r : sd_bus_message_exit_container(message);
}

template <class... Ts>
[[nodiscard]] int append_all([[maybe_unused]] sd_bus_message* message, const Ts&... values) {
  int r = 0;
  ((r = r < 0 ? r : append(message, values)), ...);
  return r;
}

// Answers a method call with these values.
template <class... Ts>
[[nodiscard]] int reply(sd_bus_message* call, const Ts&... values) {
  sd_bus_message* made = nullptr;
  int r = sd_bus_message_new_method_return(call, &made);
  const Message answer(made);
  if (r >= 0) r = append_all(answer.get(), values...);
  return r < 0 ? r : sd_bus_message_send(answer.get());
}

[[nodiscard]] int reply_error(sd_bus_message* call, const std::string& name, std::string_view text);

}  // namespace rdtd::wire
