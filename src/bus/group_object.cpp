#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

#include "fields.hpp"
#include "names.hpp"
#include "objects.hpp"
#include "wire.hpp"

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
  if (objects_of(userdata).reads.list_groups()->find(name_in(path)) == nullptr) return 0;
  *found = userdata;
  return 1;
}

int list_nodes(sd_bus*, const char*, void* userdata, char*** nodes, sd_bus_error*) {
  const auto groups = objects_of(userdata).reads.list_groups();
  // sd-bus frees this: an array of strings with a null at the end.
  char** out = static_cast<char**>(std::calloc(groups->all().size() + 1, sizeof(char*)));
  if (out == nullptr) return -ENOMEM;
  char** next = out;
  for (const GroupStatus& group : groups->all())
    *next++ = ::strdup(path_of_group(group.name).c_str());
  *nodes = out;
  return 0;
}

// "FILE:LINE" each.
std::vector<std::string> places_of(const std::vector<Location>& rules) {
  std::vector<std::string> out;
  out.reserve(rules.size());
  for (const Location& rule : rules) out.push_back(rule.text());
  return out;
}

int group_property(sd_bus* bus, const char* path, const char*, const char* property,
                   sd_bus_message* reply, void* userdata, sd_bus_error*) {
  Objects& objects = objects_of(userdata);
  const auto groups = objects.reads.list_groups();
  const GroupStatus* group = groups->find(name_in(path));
  if (group == nullptr) return -ENOENT;
  const std::string_view name = property;
  if (name == "Name") return wire::append(reply, group->name);
  if (name == "Description")
    return wire::append(reply, group->description_for_all || objects.is_for_root(bus, reply)
                                   ? group->description
                                   : "");
  if (name == "Asked") return wire::append(reply, group->asked);
  if (name == "Granted") return wire::append(reply, group->granted);
  if (name == "Mode") return wire::append(reply, group->mode);
  if (name == "CPUs") return wire::append(reply, group->cpus);
  if (name == "Tasks") return wire::append(reply, objects.tasks.in(group->name));
  return wire::append(reply, places_of(group->rules));
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wpedantic"
const std::array group_vtable = {
    sd_bus_vtable SD_BUS_VTABLE_START(0),
    sd_bus_vtable SD_BUS_PROPERTY("Name", "s", group_property, 0, SD_BUS_VTABLE_PROPERTY_CONST),
    sd_bus_vtable SD_BUS_PROPERTY("Description", "s", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Asked", "a(sus)", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Granted", "a(sus)", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Mode", "s", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("CPUs", "s", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Rules", "as", group_property, 0,
                                  SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
    sd_bus_vtable SD_BUS_PROPERTY("Tasks", "u", group_property, 0, 0),
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

int add_group_objects(sd_bus* bus, Objects& objects) {
  int r = sd_bus_add_object_manager(bus, nullptr, bus_path);
  if (r >= 0)
    r = sd_bus_add_fallback_vtable(bus, nullptr, group_path, group_interface, group_vtable.data(),
                                   find_group, &objects);
  if (r >= 0) r = sd_bus_add_node_enumerator(bus, nullptr, group_path, list_nodes, &objects);
  return r;
}

}  // namespace rdtd
