// Words that users write in place of a policy's keys: those of other tools, keys of another table,
// and slips of the keyboard.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rdtd {

// Of what other programs have as an include.
inline constexpr std::string_view all_files_are_read =
    "every *.toml file of /etc/rdtd is read, in the order of their names";

// Where other programs have a negation.
inline constexpr std::string_view no_negation =
    "to leave processes alone, write group = \"leave\" in an earlier rule";

// Where a PID is named.
inline constexpr std::string_view by_process =
    "rules match by name, unit, cgroup ...; use rdtctl assign for a PID";

// An unknown key, and the part of its value that shows what was meant.
struct UnknownKey {
  std::string_view name;
  std::optional<bool> is_on;                 // of a boolean
  std::string_view text;                     // of a string, and of an array of one
  std::vector<std::string_view> texts;       // of an array of strings
  std::string_view table;                    // that it is in, as the user wrote it: "[group.db]"
  std::vector<std::string_view> inner_keys;  // of a table
  std::string_view inner_name;               // of a table in it: "db" of [groups.db]
  std::vector<std::string_view> pods;        // the pods that its table names
  std::string_view other_end;                // the text of l3_max beside l3_min, and the reverse
  bool beside_group = false;                 // in a table that has 'group' too
  std::string_view class_within;             // "c" of [partitions.p.classes.c]
  std::string number;                        // its digits, of a whole number
  std::string_view inner_rule;               // "web" of [unit.web] with a group in it
  bool is_one_of_several = false;            // l3_0 beside l3_1
  bool has_name_line = false;                // [[groups]] with name = "db"
  std::string_view pod_namespace;            // of namespace = "shop" in its table
  std::string_view workload;                 // of deployment = "web" in its table
};

// Whether a rule's key is a word for the namespace of its pods.
[[nodiscard]] bool is_namespace_key(std::string_view key);
// Whether a rule's key is a word for what makes pods: "deployment".
[[nodiscard]] bool is_workload_key(std::string_view key);
// Whether a rule's key is a word for its group.
[[nodiscard]] bool is_word_for_group_of_rule(std::string_view key);
// Whether a table's name stands for all groups: "groups", "class".
[[nodiscard]] bool is_word_for_groups(std::string_view name);
// Whether the word is a key of [group.NAME].
[[nodiscard]] bool is_key_of_groups(std::string_view word);
// Whether it is one of those that take true and false.
[[nodiscard]] bool is_boolean_key(std::string_view word);

// Where the text of a systemd unit is pasted.
inline constexpr std::string_view is_unit_file =
    "this is a unit file of systemd: a policy names the unit in a [[rule]], unit = "
    "\"NAME.service\"";

// The hint for a QoS class of Kubernetes, in small or capital letters; "" for other words.
[[nodiscard]] std::string hint_for_qos(std::string_view word);

// The hint for an unknown key of a table that has `keys`: what to write instead, or else some of
// the keys.
[[nodiscard]] std::string unknown_key_hint(const UnknownKey& unknown,
                                           std::span<const std::string> keys);

}  // namespace rdtd
