#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "message.hpp"
#include "names.hpp"
#include "objects.hpp"

namespace rdtd {

namespace {

std::string name_in(const char* path) {
  char* name = nullptr;
  std::string out;
  if (sd_bus_path_decode(path, group_path, &name) > 0) out = name;
  std::free(name);
  return out;
}

int find_group(sd_bus*, const char* path, const char*, void* userdata, void** found,
               sd_bus_error*) {
  const auto groups = manager_of(userdata).list_groups();
  if (std::ranges::find(groups, name_in(path), &GroupStatus::name) == groups.end()) return 0;
  *found = userdata;
  return 1;
}

int list_nodes(sd_bus*, const char*, void* userdata, char*** nodes, sd_bus_error*) {
  const auto groups = manager_of(userdata).list_groups();
  // For sd-bus to free: an array of texts with a null behind the last.
  char** out = static_cast<char**>(std::calloc(groups.size() + 1, sizeof(char*)));
  if (out == nullptr) return -ENOMEM;
  for (size_t i = 0; i < groups.size(); i++)
    out[i] = ::strdup(path_of_group(groups[i].name).c_str());
  *nodes = out;
  return 0;
}

int get_property(sd_bus*, const char* path, const char*, const char* property,
                 sd_bus_message* reply, void* userdata, sd_bus_error*) {
  const auto groups = manager_of(userdata).list_groups();
  const auto group = std::ranges::find(groups, name_in(path), &GroupStatus::name);
  if (group == groups.end()) return -ENOENT;
  const std::string_view name = property;
  if (name == "Name") return sd_bus_message_append(reply, "s", group->name.c_str());
  if (name == "Description") return sd_bus_message_append(reply, "s", group->description.c_str());
  if (name == "Asked") return append_shares(reply, group->asked);
  if (name == "Granted") return append_shares(reply, group->granted);
  if (name == "Mode") return sd_bus_message_append(reply, "s", group->mode.c_str());
  if (name == "CPUs") return sd_bus_message_append(reply, "s", group->cpus.c_str());
  if (name == "Tasks")
    return sd_bus_message_append(reply, "u",
                                 static_cast<uint32_t>(manager_of(userdata).tasks_in(group->name)));
  return append_array(reply, "s", group->rules, [&](const std::string& rule) {
    return sd_bus_message_append(reply, "s", rule.c_str());
  });
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
const std::array vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_PROPERTY("Name", "s", get_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_PROPERTY("Description", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Asked", "a(sus)", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Granted", "a(sus)", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Mode", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("CPUs", "s", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Rules", "as", get_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Tasks", "u", get_property, 0, 0),
    sd_bus_vtable SD_BUS_VTABLE_END,
};
#pragma GCC diagnostic pop

}  // namespace

std::string path_of_group(const std::string& name) {
  char* path = nullptr;
  std::string out;
  if (sd_bus_path_encode(group_path, name.c_str(), &path) >= 0) out = path;
  std::free(path);
  return out;
}

int add_group_objects(sd_bus* bus, ManagerInterface& manager) {
  int r = sd_bus_add_object_manager(bus, nullptr, bus_path);
  if (r >= 0)
    r = sd_bus_add_fallback_vtable(bus, nullptr, group_path, group_interface, vtable.data(),
                                   find_group, &manager);
  if (r >= 0) r = sd_bus_add_node_enumerator(bus, nullptr, group_path, list_nodes, &manager);
  return r;
}

}  // namespace rdtd
