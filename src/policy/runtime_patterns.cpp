#include "runtime_patterns.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rdtd/base/text.hpp"
#include "rdtd/model/virtual_machine.hpp"

namespace rdtd {

using pattern::Check;
using pattern::Finding;
using pattern::last_component;
using pattern::never;
using pattern::write;

namespace {

// Whole, or as the runtimes shorten it.
bool is_container_id(std::string_view text) {
  return (text.size() == 12 || text.size() == 64) &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "docker.io/library/redis:7", "quay.io/x": with a registry, a tag or more than one '/'.
bool is_image(std::string_view text, size_t slash) {
  return text.substr(0, slash).find_first_of(".:") != std::string_view::npos ||
         text.substr(slash + 1).find_first_of("/:@") != std::string_view::npos;
}

// Nothing of a pattern: "ghcr.io/*" names no container.
std::string hint_for_image(std::string_view text) {
  if (text.find_first_of("*?[") != std::string_view::npos) return {};
  const std::string_view last = last_component(text.substr(0, text.find('@')));
  const std::string_view name = last.substr(0, last.find(':'));
  return name.empty() ? "" : write(name);
}

// "8f2c1d3e-0000-4abc-9def-0123456789ab"
bool is_uid(std::string_view text) {
  constexpr std::array<size_t, 4> dashes = {8, 13, 18, 23};
  if (text.size() != 36 || text.find_first_not_of("0123456789abcdef-") != std::string_view::npos)
    return false;
  return std::ranges::count(text, '-') == 4 &&
         std::ranges::all_of(dashes, [&](size_t at) { return text[at] == '-'; });
}

// What kubectl has before a name: "deployment/web".
bool is_kind_of_kubernetes(std::string_view word) {
  constexpr auto kinds = std::to_array<std::string_view>(
      {"pod", "pods", "po", "deployment", "deployments", "deploy", "statefulset", "sts",
       "daemonset", "ds", "replicaset", "rs", "job", "cronjob"});
  return std::ranges::find(kinds, word) != kinds.end();
}

// Whether what follows KIND/ is the name of one pod: that of a pod, or "redis-0" of a statefulset.
bool names_pod(std::string_view kind, std::string_view name) {
  const size_t number = name.find_last_not_of("0123456789") + 1;
  const bool numbered = number > 0 && number < name.size() && name[number - 1] == '-';
  return kind.starts_with("po") || name.ends_with('*') || (kind.starts_with("st") && numbered);
}

// "k8s_NAME_POD_NAMESPACE_UID_NUMBER", as docker lists the containers of a kubelet.
std::vector<std::string_view> parts_of_kubelet(std::string_view text) {
  auto parts = split(text, '_');
  if (parts.size() != 6 || parts[0] != "k8s") parts.clear();
  return parts;
}

}  // namespace

Check check_container(std::string_view text) {
  // As kubectl prints the ID, behind the name of the runtime.
  if (const size_t at = text.find("://"); at != std::string_view::npos && at > 0) {
    const std::string_view id = text.substr(at + 3);
    const bool is_id = !id.empty() && id.find_first_not_of("0123456789abcdef") == id.npos;
    return never(text, "it is the ID of a container; 'container' is its name",
                 is_id ? fmt::format("write cgroup = \"**/*{}*\"", id) : "");
  }
  if (text.starts_with('/'))
    return never(text, "the name of a container has no '/'", write(last_component(text)));
  if (const size_t at = text.find('/'); at != std::string_view::npos && is_image(text, at))
    return never(text, "it is an image; 'container' is the container's name", hint_for_image(text));
  else if (at != std::string_view::npos)
    return never(text, "the name of a container has no '/'",
                 fmt::format("write container = {}; pod = {} is for the pod",
                             rdtd::quoted(text.substr(at + 1)),
                             rdtd::quoted(fmt::format("{}/*", text.substr(0, at)))));
  if (text.find_first_of(":@") != std::string_view::npos && !text.contains('['))
    return never(text, "it is an image; 'container' is the container's name", hint_for_image(text));
  if (const auto parts = parts_of_kubelet(text); !parts.empty())
    return Finding{fmt::format("'{}' is the kubelet's name for the runtime; 'container' is the one "
                               "of the pod",
                               text),
                   fmt::format("write container = {} and pod = {}", rdtd::quoted(parts[1]),
                               rdtd::quoted(fmt::format("{}/{}", parts[3], parts[2]))),
                   false};
  if (is_container_id(text))
    return Finding{
        fmt::format("'{}' looks like the ID of a container; 'container' is its name", text),
        fmt::format("write cgroup = \"**/*{}*\"", text), false};
  return std::nullopt;
}

Check check_pod(std::string_view text) {
  const size_t slash = text.find('/');
  if (is_uid(text))
    return never(text, "it is the UID of a pod; a pod is NAMESPACE/NAME",
                 "'kubectl get pods -A' shows both");
  if (text.contains('=') && !text.contains('['))
    return never(text, "rdtd knows no labels; a pod is NAMESPACE/NAME",
                 "'kubectl get pods -A -l LABEL' shows both");
  if (const size_t colon = text.find(':'); slash == std::string_view::npos &&
                                           colon != std::string_view::npos && colon != 0 &&
                                           colon == text.rfind(':') && colon + 1 < text.size())
    return never(text, "a pod is NAMESPACE/NAME",
                 write(fmt::format("{}/{}", text.substr(0, colon), text.substr(colon + 1))));
  // "NAMESPACE_NAME_UID", as /var/log/pods has it.
  if (const auto parts = split(text, '_'); parts.size() == 3 && is_uid(parts[2]))
    return never(text, "it is a directory of /var/log/pods; a pod is NAMESPACE/NAME",
                 write(fmt::format("{}/{}", parts[0], parts[1])));
  if (slash == std::string_view::npos)
    return Finding{fmt::format("'{}' has no namespace: a pod is NAMESPACE/NAME", text),
                   write(fmt::format("*/{}", text))};
  if (const size_t second = text.find('/', slash + 1); second + 1 == text.size() && slash > 0)
    return never(text, "a pod is NAMESPACE/NAME, with one '/'", write(text.substr(0, second)));
  else if (second != std::string_view::npos)
    return never(text, "a pod is NAMESPACE/NAME, with one '/'",
                 text.starts_with('/') ? write(text.substr(1))
                                       : fmt::format("write pod = {} and container = {}",
                                                     rdtd::quoted(text.substr(0, second)),
                                                     rdtd::quoted(text.substr(second + 1))));
  if (slash == 0 || slash + 1 == text.size())
    return never(text, "a pod is NAMESPACE/NAME",
                 write(slash == 0 ? fmt::format("*{}", text) : fmt::format("{}*", text)));
  if (const auto kind = text.substr(0, slash), name = text.substr(slash + 1);
      is_kind_of_kubernetes(kind))
    return Finding{
        fmt::format("'{}' is a pod in the namespace '{}'; a pod is NAMESPACE/NAME", text, kind),
        write(fmt::format("*/{}{}", name, names_pod(kind, name) ? "" : "-*")), false};
  const auto upper = std::ranges::find_if(text, [](char c) { return c >= 'A' && c <= 'Z'; });
  const bool has_capitals = upper != text.end() && text.find('[') == std::string_view::npos;
  const bool has_underscores = text.contains('_');
  if (has_capitals && has_underscores) {
    std::string meant = lower(text);
    std::ranges::replace(meant, '_', '-');
    return never(text, "Kubernetes' names have no capital letters and no '_'", write(meant));
  }
  if (has_capitals)
    return never(text, "Kubernetes' names have no capital letters", write(lower(text)));
  if (has_underscores) return never(text, "Kubernetes' names have no '_'");
  return std::nullopt;
}

Check check_vm(std::string_view text) {
  const auto named = [&](std::string_view name, std::string_view why) {
    return never(text, why, name.empty() ? "" : write(name));
  };
  if (text.starts_with("guest=")) return named(text.substr(6), "it is the name alone");
  if (text.contains('/'))
    return named({}, "it is the name of a virtual machine; 'cgroup' matches a path");
  if (text.starts_with("machine-qemu") || text.ends_with(".scope")) {
    if (const auto name = vm_of_cgroup(fmt::format("/machine.slice/{}/x", text)))
      return named(*name, "it is the name that 'virsh list' shows");
    const std::string_view stem = text.substr(0, text.rfind(".scope"));
    const bool is_escaped = stem.contains('\\') || stem.starts_with("machine-");
    return named(is_escaped ? "" : stem, "it is the name that 'virsh list' shows");
  }
  // As systemd writes what is between the dashes.
  if (text.contains("\\x"))
    if (const auto name =
            vm_of_cgroup(fmt::format("/machine.slice/machine-qemu\\x2d1\\x2d{}.scope/x", text));
        name && *name != text)
      return named(*name, "it is the name that 'virsh list' shows");
  if (text.ends_with(".xml") && text.size() > 4)
    return Finding{fmt::format("'{}' looks like the file of a virtual machine; 'vm' is the name "
                               "that 'virsh list' shows",
                               text),
                   write(text.substr(0, text.size() - 4)), false};
  if (is_uid(lower(text)))
    return Finding{
        fmt::format("'{}' looks like a UUID; 'vm' is the name that 'virsh list' shows", text),
        fmt::format("'virsh domname {}' shows it", text), false};
  if (text.ends_with(".slice"))
    return named({}, "it is the name of a virtual machine; 'unit' matches a slice");
  if (const auto name = vm_of_cgroup(fmt::format("/machine/{}.libvirt-qemu/x", text)))
    return Finding{fmt::format("'{}' looks like libvirt's name for a process; 'vm' is the name "
                               "that 'virsh list' shows",
                               text),
                   write(*name), false};
  return std::nullopt;
}

}  // namespace rdtd
