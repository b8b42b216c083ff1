"""What holds for Kubernetes' objects of packaging, for the tests beside this file."""
import os
import re
import sys

try:
    import yaml
except ImportError:
    print("SKIPPED: Python has no yaml module; Debian has it in python3-yaml, which ansible-core brings")
    sys.exit(77)

project = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../..")


class Loader(yaml.SafeLoader):
    """Refuses a key that stands twice, of which YAML would keep the last."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} stands twice", node.start_mark)
        return super().construct_mapping(node, deep)


def documents(path):
    with open(path, encoding="utf-8") as file:
        return list(yaml.load_all(file, Loader))


def first_group(path, pattern):
    with open(os.path.join(project, path), encoding="utf-8") as file:
        return re.search(pattern, file.read(), re.MULTILINE)[1]


VERSION = first_group("CMakeLists.txt", r"^project\(rdtd VERSION (\S+)")
CAPABILITIES = first_group("systemd/rdtd.service.in", r"^CapabilityBoundingSet=(.*)").split()


def rights_complaints(pod):
    """The pod has the rights of the unit, and its other containers none."""
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in pod["containers"]:
        name, context = container["name"], container["securityContext"]
        added = ["CAP_" + each for each in context["capabilities"].get("add", [])]
        if context["capabilities"]["drop"] != ["ALL"] or added != (CAPABILITIES if name == "rdtd" else []):
            yield f"{name}: the capabilities of the unit are {CAPABILITIES}"
        if context.get("privileged") or context["allowPrivilegeEscalation"] or not context["readOnlyRootFilesystem"]:
            yield f"{name}: it is not confined"
        for mount in container["volumeMounts"]:
            if mount["name"] not in volumes:
                yield f"{name}: there is no volume {mount['name']}"
