#include "runtime_patterns.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "rdtd/base/glob.hpp"
#include "rdtd/base/text.hpp"
#include "rdtd/model/virtual_machine.hpp"
#include "runtime_units.hpp"
#include "unknown_key.hpp"

namespace rdtd {

using pattern::Check;
using pattern::Finding;
using pattern::last_component;
using pattern::never;
using pattern::write;

namespace {

// Whole, or as the runtimes shorten it.
bool is_container_id(std::string_view text) {
  return (text.size() == 12 || text.size() == 64) && is_hex(text);
}

// "docker.io/library/redis:7", "quay.io/x": with a registry, a tag or more than one '/'.
bool is_image(std::string_view text, size_t slash) {
  return text.substr(0, slash).find_first_of(".:") != std::string_view::npos ||
         text.substr(slash + 1).find_first_of("/:@") != std::string_view::npos;
}

// Nothing of a pattern: "ghcr.io/*" names no container.
std::string hint_for_image(std::string_view text) {
  if (has_wildcard(text)) return {};
  const std::string_view last = last_component(text.substr(0, text.find('@')));
  const std::string_view name = last.substr(0, last.find(':'));
  return name.empty() || name == "sha256" ? "'docker ps' or 'crictl ps' shows the names"
                                          : write(name);
}

// "8f2c1d3e-0000-4abc-9def-0123456789ab"
bool is_uid(std::string_view text) {
  constexpr std::array<size_t, 4> dashes = {8, 13, 18, 23};
  if (text.size() != 36 || text.find_first_not_of("0123456789abcdef-") != std::string_view::npos)
    return false;
  return std::ranges::count(text, '-') == 4 &&
         std::ranges::all_of(dashes, [&](size_t at) { return text[at] == '-'; });
}

// Whether kubectl has the word before a name: "deployment/web".
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

// Nothing of what is no ID.
std::string write_place_of(std::string_view id) {
  constexpr size_t least_digits = 8;
  return is_hex(id) && id.size() >= least_digits ? fmt::format("write cgroup = \"**/*{}*\"", id)
                                                 : "'docker ps' or 'crictl ps' shows the names";
}

// The name in "^/redis$", as docker's filters have it, without quotes.
std::string_view name_in_filter(std::string_view value) {
  for (const std::string_view begin : {"\"", "'", "^", "/"})
    if (value.starts_with(begin)) value.remove_prefix(1);
  for (const std::string_view end : {"\"", "'", "$"})
    if (value.ends_with(end)) value.remove_suffix(1);
  return value;
}

// "label=app=web", "id=8f2c1d3e", "ancestor=redis", as the filters of docker have them.
Check check_filter(std::string_view text) {
  constexpr std::string_view labels = "rdtd knows no labels; 'container' is the container's name";
  const size_t sign = text.find_first_of("=:");
  if (sign == std::string_view::npos || sign + 1 == text.size() || text.contains('['))
    return std::nullopt;
  const std::string word = lower(text.substr(0, sign));
  const std::string_view value = name_in_filter(trim(text.substr(sign + 1)));
  if (word == "id" || word == "container_id" || word == "cid")
    return never(text, "it is the ID of a container; 'container' is its name",
                 write_place_of(value));
  if (word == "image" || word == "ancestor")
    return never(text, "it is an image; 'container' is the container's name",
                 hint_for_image(value));
  const bool is_label = text[sign] == '=' && word.contains('.') && !word.contains('/');
  if (word == "label" || word == "labels" || is_label)
    return never(text, labels, "'docker ps --filter LABEL' shows the names");
  if (text[sign] != '=') return std::nullopt;
  const bool is_name = word == "names" || word == "container_name" || word == "--name";
  return never(text, "the name of a container has no '='",
               is_name ? pattern::write_what_is_named(value)
               : word == "namespace" && !value.contains('/')
                   ? fmt::format("write pod = {}", rdtd::quoted(fmt::format("{}/*", value)))
                   : "");
}

// "k8s_NAME_POD_NAMESPACE_UID_NUMBER", as docker lists the containers of a kubelet.
std::vector<std::string_view> parts_of_kubelet(std::string_view text) {
  auto parts = split(text, '_');
  if (parts.size() != 6 || parts[0] != "k8s") parts.clear();
  return parts;
}

// "docker:redis", "lxc:web" and "NAMESPACE/POD/CONTAINER", which look like images.
Check check_place_of_container(std::string_view text) {
  if (text.find_first_of("[@") != std::string_view::npos) return std::nullopt;
  const auto parts = split(text, '/');
  const bool is_path = parts.size() == 3 && !parts.front().empty() && !parts.back().empty() &&
                       parts.front() != "localhost" &&
                       text.find_first_of(":.") == std::string_view::npos;
  if (is_path)
    return never(text, "the name of a container has no '/'",
                 fmt::format("write container = {} and pod = {}", rdtd::quoted(parts[2]),
                             rdtd::quoted(fmt::format("{}/{}", parts[0], parts[1]))));
  const size_t colon = text.find(':');
  const std::string_view runtime = text.substr(0, colon);
  const std::string_view name = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (name.empty() || name.find_first_of(":/") != std::string_view::npos) return std::nullopt;
  constexpr std::string_view alone = "the name of a container stands alone, without its runtime";
  // "docker:27" and "docker:dind" are images.
  const bool is_tag = name == "dind" || name == "cli" || name == "latest" || name == "stable" ||
                      std::isdigit(static_cast<unsigned char>(name.front())) != 0;
  if (is_tag) return std::nullopt;
  if (runtime == "docker" || runtime == "podman") return never(text, alone, write(name));
  if (runtime == "lxc" || runtime == "lxd" || runtime == "incus")
    return never(
        text, "'container' is one of docker, podman or Kubernetes",
        fmt::format("write cgroup = {}", rdtd::quoted(fmt::format("/lxc.payload.{}", name))));
  return std::nullopt;
}

}  // namespace

Check check_container(std::string_view text) {
  // As kubectl prints the ID, behind the name of the runtime.
  if (const size_t at = text.find("://"); at != std::string_view::npos && at > 0) {
    return never(text, "it is the ID of a container; 'container' is its name",
                 write_place_of(text.substr(at + 3)));
  }
  if (auto found = check_filter(text)) return found;
  if (text.find_first_of(" \t") != std::string_view::npos) {
    std::string list;
    for (const std::string_view name : split(text, ' '))
      if (!trim(name).empty()) list += (list.empty() ? "" : ", ") + rdtd::quoted(trim(name));
    return never(text, "the name of a container has no blank", fmt::format("write [{}]", list));
  }
  if (text.starts_with('/'))
    return never(text, "the name of a container has no '/'", write(last_component(text)));
  if (auto found = check_place_of_container(text)) return found;
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
        write_place_of(text), false};
  if (const auto id = id_in_scope(text); !id.empty())
    return Finding{
        fmt::format("'{}' looks like the scope of a container; 'container' is its name", text),
        is_container_id(id) ? write_place_of(id) : pattern::write_what_is_named(id), false};
  return std::nullopt;
}

namespace {

bool is_namespace_of_kubernetes(std::string_view name) {
  constexpr auto known =
      std::to_array<std::string_view>({"kube-system", "kube-public", "kube-node-lease", "default"});
  return std::ranges::find(known, name) != known.end();
}

// "kube-system/*" of "namespace: kube-system" and "namespace=kube-system".
std::string pod_of_word(std::string_view text) {
  const size_t sign = text.find_first_of(":=");
  if (sign == std::string_view::npos || text.find_first_of("/:=[", sign + 1) != text.npos)
    return {};
  const std::string word = lower(trim(text.substr(0, sign)));
  const std::string_view value = trim(text.substr(sign + 1));
  if (value.empty()) return {};
  if (word == "namespace" || word == "ns") return fmt::format("{}/*", value);
  return word == "pod" || word == "name" ? fmt::format("*/{}", value) : "";
}

// A text without any '/'.
Check check_pod_word(std::string_view text) {
  if (const std::string meant = pod_of_word(text); !meant.empty())
    return never(text, "a pod is NAMESPACE/NAME", write(meant));
  // Of the slice of a pod.
  std::string uid(text.starts_with("pod") ? text.substr(3) : text);
  std::ranges::replace(uid, '_', '-');
  if (is_uid(uid))
    return never(text, "it is the UID of a pod; a pod is NAMESPACE/NAME",
                 "'kubectl get pods -A' shows both");
  if (std::string hint = hint_for_qos(text); !hint.empty())
    return Finding{fmt::format("'{}' has no namespace: a pod is NAMESPACE/NAME", text),
                   fmt::format("if it is the QoS class: {}", hint)};
  return std::nullopt;
}

}  // namespace

Check check_pod(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos)
    if (auto found = check_pod_word(text)) return found;
  if (text.contains('=') && !text.contains('['))
    return never(text, "rdtd knows no labels; a pod is NAMESPACE/NAME",
                 "'kubectl get pods -A -l LABEL' shows both");
  if (text.starts_with("uid:"))
    return never(text, "it is the UID of a pod; a pod is NAMESPACE/NAME",
                 "'kubectl get pods -A' shows both");
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
                   write(is_namespace_of_kubernetes(text) ? fmt::format("{}/*", text)
                                                          : fmt::format("*/{}", text))};
  if (text.find_first_not_of("/ ") == std::string_view::npos)
    return never(text, "a pod is NAMESPACE/NAME", write("*/*"));
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
  if (const auto kind = text.substr(0, slash); is_one_of(kind, {"ns", "namespace", "namespaces"}))
    return Finding{
        fmt::format("'{}' is a pod in the namespace '{}'; a pod is NAMESPACE/NAME", text, kind),
        write(fmt::format("{}/*", text.substr(slash + 1))), false};
  if (const auto kind = text.substr(0, slash), name = text.substr(slash + 1);
      is_kind_of_kubernetes(kind.substr(0, kind.find('.'))))
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

// "qemu:web", "id:5".
static Check check_word_of_machine(std::string_view text) {
  if (const size_t colon = text.find(':');
      colon != std::string_view::npos && colon + 1 < text.size() &&
      is_one_of(text.substr(0, colon), {"qemu", "kvm", "libvirt", "vm", "domain", "name"}))
    return Finding{fmt::format("'{}' may not match: the name of a machine stands alone", text),
                   write(text.substr(colon + 1)), false};
  if (text.starts_with("id:") && is_digits(text.substr(3)))
    return Finding{
        fmt::format("'{}' may not match: the number of a machine changes at each start", text),
        fmt::format("write its name, which 'virsh domname {}' shows", text.substr(3)), false};
  return std::nullopt;
}

// "web" of "qemu:///system/web"; "" if it is the connection alone.
static std::string_view vm_of_uri(std::string_view uri) {
  constexpr std::string_view sign = "://";
  const std::string_view rest = uri.substr(uri.find(sign) + sign.size());
  const std::string_view place = rest.substr(0, rest.find('?'));  // "?keyfile=/a" follows it
  const std::string_view path = place.substr(std::min(place.find('/'), place.size()));
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const bool is_connection =
      is_one_of(name, {"system", "session", "default"}) && path.rfind('/') == 0;
  return is_connection || has_wildcard(name) ? "" : name;
}

// "web" of "machine-qemu\\x2d1\\x2dweb.scope", and of the same with '-' in place of systemd's
// "\\x2d"; "" of another text.
static std::string vm_of_scope(std::string_view text) {
  if (const auto name = vm_of_cgroup(fmt::format("/machine.slice/{}/x", text))) return *name;
  const std::string_view stem = text.substr(0, text.rfind(".scope"));
  constexpr std::string_view begin = "machine-qemu-";
  const size_t dash = stem.find('-', std::min(begin.size(), stem.size()));
  if (stem.starts_with(begin) && dash != std::string_view::npos && !stem.contains('\\') &&
      is_digits(stem.substr(begin.size(), dash - begin.size())))
    return std::string(stem.substr(dash + 1));
  const bool is_escaped = stem.contains('\\') || stem.starts_with("machine-");
  return is_escaped ? "" : std::string(stem);
}

Check check_vm(std::string_view text) {
  const auto named = [&](std::string_view name, std::string_view why) {
    return never(text, why, name.empty() ? "" : write(name));
  };
  if (text.starts_with("guest="))
    return named(text.substr(6, text.find(',') - 6), "it is the name alone");
  if (text.starts_with('/') && text.ends_with(".xml"))
    return named(last_component(text.substr(0, text.size() - std::string_view(".xml").size())),
                 "it is the name that 'virsh list' shows");
  if (text.contains("://")) return named(vm_of_uri(text), "it is the name alone");
  if (auto found = check_word_of_machine(text)) return found;
  if (text.contains('/'))
    return named({}, "it is the name of a virtual machine; 'cgroup' matches a path");
  if (text.starts_with("machine-qemu") || text.ends_with(".scope"))
    return named(vm_of_scope(text), "it is the name that 'virsh list' shows");
  // As systemd writes what is between the dashes.
  if (text.contains("\\x"))
    if (const auto name =
            vm_of_cgroup(fmt::format("/machine.slice/machine-qemu\\x2d1\\x2d{}.scope/x", text));
        name && *name != text)
      return named(*name, "it is the name that 'virsh list' shows");
  for (const std::string_view file : {".xml", ".qcow2", ".img", ".raw", ".conf"})
    if (text.ends_with(file) && text.size() > file.size())
      return Finding{fmt::format("'{}' looks like the file of a virtual machine; 'vm' is the name "
                                 "that 'virsh list' shows",
                                 text),
                     pattern::write_what_is_named(text.substr(0, text.size() - file.size())),
                     false};
  if (const size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto first = parse_unsigned<uint32_t>(text.substr(0, dash)),
               last = parse_unsigned<uint32_t>(text.substr(dash + 1));
    if (first && last && *first < *last)
      return Finding{fmt::format("'{}' is one name: there are no ranges of numbers", text),
                     fmt::format("list them: vm = [\"{}\", ..., \"{}\"]", *first, *last), false};
  }
  if (is_uid(lower(text)))
    return Finding{
        fmt::format("'{}' looks like a UUID; 'vm' is the name that 'virsh list' shows", text),
        fmt::format("'virsh domname {}' shows it", text), false};
  if (text.ends_with(".slice"))
    return named({}, "it is the name of a virtual machine; 'unit' matches a slice");
  const bool has_kept = std::ranges::any_of(
      text, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; });
  if (!has_kept && text.find_first_of("*?[") == std::string_view::npos)
    return Finding{fmt::format("'{}' may not match: libvirt names the scope of a machine by the "
                               "ASCII letters and digits of its name, and this has none",
                               text),
                   "", false};
  if (const auto name = vm_of_cgroup(fmt::format("/machine/{}.libvirt-qemu/x", text)))
    return Finding{fmt::format("'{}' looks like libvirt's name for a process; 'vm' is the name "
                               "that 'virsh list' shows",
                               text),
                   write(*name), false};
  return std::nullopt;
}

}  // namespace rdtd
