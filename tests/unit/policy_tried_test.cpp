// What users of systemd, docker, Kubernetes and libvirt try, with the whole texts of what is said
// of it.
#include "policy_support.hpp"

namespace rdtd::policy_tried {
namespace {

using test::expect_errors;
using test::expect_findings;
using test::PolicyAndErrors;
using test::ValueAndFinding;

constexpr ValueAndFinding values_and_findings[] = {
    {"exe = '/^.*redis$/'",
     "error: '/^.*redis$/' can never match: it is a glob, not a regular expression, and matches "
     "the whole text | write \"**/*redis\""},
    {"cgroup = '/^system.slice/.*$'",
     "error: '/^system.slice/.*$' can never match: it is a glob, not a regular expression, and "
     "matches the whole text | write \"/system.slice/*\""},
    {"exe = '**/*redis'", ""},
    {"cgroup = '/system.slice/*'", ""},
    {"name = '/^postgres/'",
     "error: '/^postgres/' can never match: it is a glob, not a regular expression, and matches "
     "the whole text | write \"postgres*\""},
    {"name = '/^(redis|java)$/'",
     "error: '/^(redis|java)$/' can never match: one pattern is one glob, and an array holds "
     "several | write [\"redis\", \"java\"]"},
    {"exe = '/^java$/'",
     "error: '/^java$/' can never match: it is a glob, not a regular expression, and matches the "
     "whole text | write \"**/java\""},
    {"container = 'name=redis'",
     "error: 'name=redis' can never match: the value stands alone, without a word before it | "
     "write \"redis\""},
    {"container = 'label=app=x'",
     "error: 'label=app=x' can never match: rdtd knows no labels; 'container' is the container's "
     "name | 'docker ps --filter LABEL' shows the names"},
    {"container = 'id=abc'",
     "error: 'id=abc' can never match: it is the ID of a container; 'container' is its name | "
     "'docker ps' or 'crictl ps' shows the names"},
    {"container = 'image=redis'",
     "error: 'image=redis' can never match: it is an image; 'container' is the container's name | "
     "write \"redis\""},
    {"pod = 'shop/redis,web'",
     "error: 'shop/redis,web' can never match: one pattern is one glob, and an array holds several "
     "| write [\"shop/redis\", \"shop/web\"]"},
    {"pod = 'shop/redis|web'",
     "error: 'shop/redis|web' can never match: one pattern is one glob, and an array holds several "
     "| write [\"shop/redis\", \"shop/web\"]"},
    {"vm = 'guest=web,debug-threads=on'",
     "error: 'guest=web,debug-threads=on' can never match: it is the name alone | write \"web\""},
    {"pod = 'namespace: shop'",
     "error: 'namespace: shop' can never match: a pod is NAMESPACE/NAME | write \"shop/*\""},
    {"pod = 'namespace:shop'",
     "error: 'namespace:shop' can never match: a pod is NAMESPACE/NAME | write \"shop/*\""},
    {"pod = 'pod8f2c1d3e-0000-4abc-9def-0123456789ab'",
     "error: 'pod8f2c1d3e-0000-4abc-9def-0123456789ab' can never match: it is the UID of a pod; a "
     "pod is NAMESPACE/NAME | 'kubectl get pods -A' shows both"},
    {"unit = 'nginx. service'",
     "error: 'nginx. service' can never match: a unit has a '.' before its type | write "
     "\"nginx.service\""},
    {"unit = 'nginx .service'",
     "error: 'nginx .service' can never match: a unit has a '.' before its type | write "
     "\"nginx.service\""},
    {"unit = '--user firefox'",
     "error: '--user firefox' can never match: it is an option of systemctl; 'unit' and "
     "'user_unit' take the names | write user_unit = \"firefox\""},
    {"unit = '--user firefox.service'",
     "error: '--user firefox.service' can never match: it is an option of systemctl; 'unit' and "
     "'user_unit' take the names | write user_unit = \"firefox.service\""},
    {"pod = '/'", "error: '/' can never match: a pod is NAMESPACE/NAME | write \"*/*\""},
    {"exe = '%h/x'",
     "error: '%h/x' can never match: an executable's path begins with '/' | write "
     "\"/home/*/x\""},
    {"exe = '%h'",
     "error: '%h' can never match: an executable's path begins with '/' | write the text itself"},
    {"exe = '/proc/123/exe'",
     "error: '/proc/123/exe' can never match: no program lies there | 'readlink /proc/PID/exe' "
     "shows the path of a process's executable"},
    {"exe = '/proc/self/exe'",
     "error: '/proc/self/exe' can never match: no program lies there | 'readlink /proc/PID/exe' "
     "shows the path of a process's executable"},
    {"exe = '/etc/nginx/nginx.conf'",
     "warning: '/etc/nginx/nginx.conf' may not match: it looks like a file that is no program"},
    {"exe = '/sys/x'",
     "error: '/sys/x' can never match: no program lies there | 'readlink /proc/PID/exe' shows the "
     "path of a process's executable"},
    {"exe = '/dev/shm/x'", ""},
    {"exe = '/run/x'", ""},
    {"exe = '/usr/lib/systemd/system/nginx.service'",
     "warning: '/usr/lib/systemd/system/nginx.service' may not match: it looks like a file that is "
     "no program | write unit = \"nginx.service\""},
    {"exe = '**/nginx.conf'",
     "warning: '**/nginx.conf' may not match: it looks like a file that is no program"},
    {"exe = '/memfd:x'", ""},
    {"exe = '/var/lib/docker/overlay2/abc/merged/usr/sbin/nginx'",
     "warning: '/var/lib/docker/overlay2/abc/merged/usr/sbin/nginx' may not match: of a process in "
     "a container, the kernel shows the path within it | write \"/usr/sbin/nginx\""},
    {"unit = 'nginx.conf'",
     "warning: 'nginx.conf' is the service 'nginx.conf.service' | write \"nginx.service\""},
    {"cgroup = '/docker/abc'",
     "warning: '/docker/abc' may not match: a container's cgroup has its whole ID | write "
     "container = \"abc\""},
    {"cgroup = '/proc/self/cgroup'",
     "error: '/proc/self/cgroup' can never match: it is a file that shows the cgroup of a process "
     "| 'cat /proc/PID/cgroup' shows the path of one"},
    {"cgroup = '/sys/fs/resctrl/redis'",
     "error: '/sys/fs/resctrl/redis' can never match: resctrl has groups, and no cgroups | write "
     "group = \"redis\""},
    {"cgroup = '/system.slice/nginx.service/tasks'",
     "warning: '/system.slice/nginx.service/tasks' looks like a file of a cgroup | write "
     "\"/system.slice/nginx.service\""},
    {"cgroup = '/user.slice/user-1000.slice/firefox.service'",
     "warning: '/user.slice/user-1000.slice/firefox.service' may not match: a user's own services "
     "are in user@UID.service | write user_unit = \"firefox.service\" and user = 1000"},
    {"cgroup = '/cgroup/cpu/x'",
     "warning: '/cgroup/cpu/x' may not match: the path of a cgroup begins at the root of its "
     "hierarchy | write \"/x\""},
    {"cgroup = '/dev/cgroup/x'",
     "warning: '/dev/cgroup/x' may not match: the path of a cgroup begins at the root of its "
     "hierarchy | write \"/x\""},
    {"unit = 'nginx.SERVICE'",
     "warning: 'nginx.SERVICE' is the service 'nginx.SERVICE.service' | write \"nginx.service\""},
    {"unit = 'nginx:service'",
     "warning: 'nginx:service' is the service 'nginx:service.service' | write \"nginx.service\""},
    {"unit = 'file:nginx.service'",
     "warning: 'file:nginx.service' may not match what it was meant for: the value stands alone, "
     "without a word before it | write \"nginx.service\""},
    {"unit = 'kubepods.slice:cri'",
     "warning: 'kubepods.slice:cri' is the service 'kubepods.slice:cri.service' | write "
     "\"kubepods.slice\""},
    {"unit = 'guaranteed'",
     "warning: 'guaranteed' is the service 'guaranteed.service' | if it is the QoS class: its pods "
     "lie directly below kubepods.slice: rules for burstable and besteffort first, then unit = "
     "\"kubepods.slice\""},
    {"unit = 'burstable'",
     "warning: 'burstable' is the service 'burstable.service' | if it is the QoS class: write unit "
     "= \"kubepods-burstable.slice\""},
    {"unit = 'besteffort'",
     "warning: 'besteffort' is the service 'besteffort.service' | if it is the QoS class: write "
     "unit = \"kubepods-besteffort.slice\""},
    {"unit = 'web.container'",
     "warning: 'web.container' is the service 'web.container.service' | write \"web.service\""},
    {"unit = 'web.pod'",
     "warning: 'web.pod' is the service 'web.pod.service' | write \"web-pod.service\""},
    {"unit = 'web.kube'",
     "warning: 'web.kube' is the service 'web.kube.service' | write \"web.service\""},
    {"unit = 'a.network'",
     "warning: 'a.network' is the service 'a.network.service' | write \"a-network.service\""},
    {"unit = 'a.nspawn'",
     "warning: 'a.nspawn' is the service 'a.nspawn.service' | write \"systemd-nspawn@a.service\""},
    {"unit = 'a.desktop'",
     "warning: 'a.desktop' is the service 'a.desktop.service' | write user_unit = \"app-*a*\""},
    {"unit = 'a.yml'", "warning: 'a.yml' is the service 'a.yml.service' | write \"a.service\""},
    {"unit = 'a.jar'", "warning: 'a.jar' is the service 'a.jar.service' | write \"a.service\""},
    {"unit = 'a.py'", "warning: 'a.py' is the service 'a.py.service' | write \"a.service\""},
    {"unit = 'a.pid'", "warning: 'a.pid' is the service 'a.pid.service' | write \"a.service\""},
    {"pod = 'deployment.apps/web'",
     "warning: 'deployment.apps/web' is a pod in the namespace 'deployment.apps'; a pod is "
     "NAMESPACE/NAME | write \"*/web-*\""},
    {"container = 'docker-redis.scope'",
     "warning: 'docker-redis.scope' looks like the scope of a container; 'container' is its name | "
     "write \"redis\""},
    {"vm = '100-200'",
     "warning: '100-200' is one name: there are no ranges of numbers | list them: vm = "
     "[\"100\", ..., \"200\"]"},
    {"vm = 'web.qcow2'",
     "warning: 'web.qcow2' looks like the file of a virtual machine; 'vm' is the name that 'virsh "
     "list' shows | write \"web\""},
    {"vm = 'machine-qemu-1-web'",
     "error: 'machine-qemu-1-web' can never match: it is the name that 'virsh list' shows | write "
     "\"web\""},
    {"pod = 'guaranteed'",
     "error: 'guaranteed' has no namespace: a pod is NAMESPACE/NAME | if it is the QoS class: its "
     "pods lie directly below kubepods.slice: rules for burstable and besteffort first, then unit "
     "= \"kubepods.slice\""},
    {"pod = 'BestEffort'",
     "error: 'BestEffort' has no namespace: a pod is NAMESPACE/NAME | if it is the QoS class: "
     "write unit = \"kubepods-besteffort.slice\""},
    {"pod = 'kube-system'",
     "error: 'kube-system' has no namespace: a pod is NAMESPACE/NAME | write \"kube-system/*\""},
    {"exe = '%h'",
     "error: '%h' can never match: an executable's path begins with '/' | write the text itself"},
    {"exe = '%tar'",
     "error: '%tar' can never match: an executable's path begins with '/' | 'name' is for the bare "
     "name"},
    {"unit = '--user=firefox'",
     "error: '--user=firefox' can never match: it is an option of systemctl; 'unit' and "
     "'user_unit' take the names | write user_unit = \"firefox\""},
    {"unit = '--system nginx.service'",
     "error: '--system nginx.service' can never match: it is an option of systemctl; 'unit' and "
     "'user_unit' take the names | write \"nginx.service\""},
    {"user_unit = '--user firefox'",
     "error: '--user firefox' can never match: it is an option of systemctl; 'unit' and "
     "'user_unit' take the names | write \"firefox\""},
    {"pod = 'redis,shop/web'",
     "error: 'redis,shop/web' can never match: one pattern is one glob, and an array holds several "
     "| write [\"*/redis\", \"shop/web\"]"},
    {"container = 'label:app=x'",
     "error: 'label:app=x' can never match: rdtd knows no labels; 'container' is the container's "
     "name | 'docker ps --filter LABEL' shows the names"},
    {"container = 'foo=bar'",
     "error: 'foo=bar' can never match: the name of a container has no '='"},
    {"container = 'docker-0123456789ab.scope'",
     "warning: 'docker-0123456789ab.scope' looks like the scope of a container; 'container' is its "
     "name | write cgroup = \"**/*0123456789ab*\""},
    {"vm = 'web.xml'",
     "warning: 'web.xml' looks like the file of a virtual machine; 'vm' is the name that 'virsh "
     "list' shows | write \"web\""},
    {"vm = 'web-1'", ""},
    {"unit = 'user-runtime-dir@1000.service'", ""},
    {"cgroup = '/user.slice/user-1000.slice/user-runtime-dir@1000.service'", ""},
    {"cgroup = '/user.slice/user-1000.slice/user@1000.service/app.slice/firefox.service'", ""},
    {"cgroup = '/docker/0123456789ab'",
     "warning: '/docker/0123456789ab' may not match: a container's cgroup has its whole ID | write "
     "\"**/*0123456789ab*\""},
    {"cgroup = '/docker/*'", ""},
    {"cgroup = '/docker'", ""},
    {"cgroup = '/cgroup/x'",
     "warning: '/cgroup/x' may not match: the path of a cgroup begins at the root of its hierarchy "
     "| write \"/x\""},
    {"cgroup = '/sys/fs/resctrl'",
     "error: '/sys/fs/resctrl' can never match: resctrl has groups, and no cgroups | write group = "
     "\"NAME\""},
    {"unit = 'org.freedesktop.NetworkManager'", ""},
    {"unit = 'php8.2-fpm'", ""},
    {"unit = 'a:b'", ""},
    {"exe = '/opt/a.service/bin/x'", ""},
    {"exe = '/etc/init.d/nginx'",
     "warning: '/etc/init.d/nginx' may not match: the executable of a script is its interpreter | "
     "'name' or 'cmdline' matches a script"},
    {"exe = '/usr/lib/jvm/java/bin/java'", ""},
    {"exe = '/run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/rootfs/usr/bin/redis'",
     "warning: '/run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/rootfs/...' may not "
     "match: of a process in a container, the kernel shows the path within it | write "
     "\"/usr/bin/redis\""},
    {"exe = '**/overlay2/**'", ""},
    {"exe = '/dev/shm/x'", ""},
    {"pod = 'web.apps/x'", ""},
    {"pod = 'default'",
     "error: 'default' has no namespace: a pod is NAMESPACE/NAME | write \"default/*\""},
    {"pod = '//'", "error: '//' can never match: a pod is NAMESPACE/NAME | write \"*/*\""},
    {"unit = 'MY.Slice'",
     "warning: 'MY.Slice' is the service 'MY.Slice.service' | write \"MY.slice\""},
    {"pod = 'ns=shop'",
     "error: 'ns=shop' can never match: a pod is NAMESPACE/NAME | write \"shop/*\""},
    {"pod = 'pod:web'",
     "error: 'pod:web' can never match: a pod is NAMESPACE/NAME | write \"*/web\""},
    {"pod = 'kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab'",
     "error: 'kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab' has no namespace: a pod is "
     "NAMESPACE/NAME | write \"*/kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab\""},
    {"pod = 'pod8f2c1d3e_0000_4abc_9def_0123456789ab'",
     "error: 'pod8f2c1d3e_0000_4abc_9def_0123456789ab' can never match: it is the UID of a pod; a "
     "pod is NAMESPACE/NAME | 'kubectl get pods -A' shows both"},
    {"cgroup = '/batch/tasks'", ""},
    {"cgroup = '/docker/buildkit'", ""},
    {"cgroup = '/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'", ""},
    {"container = 'cid=0123456789ab'",
     "error: 'cid=0123456789ab' can never match: it is the ID of a container; 'container' is its "
     "name | write cgroup = \"**/*0123456789ab*\""},
    {"container = 'id=8f2c1d3e'",
     "error: 'id=8f2c1d3e' can never match: it is the ID of a container; 'container' is its name | "
     "write cgroup = \"**/*8f2c1d3e*\""},
    {"container = 'id=\"8f2c1d3e\"'",
     "error: 'id=\"8f2c1d3e\"' can never match: it is the ID of a container; 'container' is its "
     "name | write cgroup = \"**/*8f2c1d3e*\""},
    {"container = 'id=*'",
     "error: 'id=*' can never match: it is the ID of a container; 'container' is its name | "
     "'docker ps' or 'crictl ps' shows the names"},
    {"container = 'status=running'",
     "error: 'status=running' can never match: the name of a container has no '='"},
    {"container = 'namespace=shop'",
     "error: 'namespace=shop' can never match: the name of a container has no '=' | write pod = "
     "\"shop/*\""},
    {"container = 'com.docker.compose.service=web'",
     "error: 'com.docker.compose.service=web' can never match: rdtd knows no labels; 'container' "
     "is the container's name | 'docker ps --filter LABEL' shows the names"},
    {"container = 'names=redis'",
     "error: 'names=redis' can never match: the name of a container has no '=' | write \"redis\""},
    {"container = 'name=^/redis$'",
     "error: 'name=^/redis$' can never match: the value stands alone, without a word before it | "
     "write \"redis\""},
    {"unit = '*.conf'", "warning: '*.conf' is the service '*.conf.service'"},
    {"unit = '*:service'", "warning: '*:service' is the service '*:service.service'"},
    {"unit = '*.desktop'", "warning: '*.desktop' is the service '*.desktop.service'"},
    {"unit = 'google-chrome.desktop'",
     "warning: 'google-chrome.desktop' is the service 'google-chrome.desktop.service' | write "
     "user_unit = \"app-*google*chrome*\""},
    {"unit = 'system.slice:libpod:abc'",
     "warning: 'system.slice:libpod:abc' is the service 'system.slice:libpod:abc.service' | write "
     "\"libpod-abc.scope\""},
    {"unit = 'org.kde.Slide'", ""},
    {"unit = 'ifup@eth0.network'", ""},
    {"unit = 'run@backup.sh'", ""},
    {"unit = 'x@.container'",
     "warning: 'x@.container' is the service 'x@.container.service' | write \"x@*.service\""},
    {"vm = '2024-01'", ""},
    {"vm = '*.img'",
     "warning: '*.img' looks like the file of a virtual machine; 'vm' is the name that 'virsh "
     "list' shows"},
    {"exe = '/var/lib/docker/overlay2/*/merged/**'",
     "warning: '/var/lib/docker/overlay2/*/merged/**' may not match: of a process in a container, "
     "the kernel shows the path within it"},
    {"cgroup = '/dev/cgroup/**'",
     "warning: '/dev/cgroup/**' may not match: the path of a cgroup begins at the root of its "
     "hierarchy"},
    {"cgroup = '/user.slice/user-1000.slice/foo.service'",
     "warning: '/user.slice/user-1000.slice/foo.service' may not match: a user's own services are "
     "in user@UID.service | write user_unit = \"foo.service\" and user = 1000"},
    {"unit = 'desktop.service'", ""},
    {"user_unit = 'google-chrome'",
     "warning: 'google-chrome' is the service 'google-chrome.service' | if a desktop starts it, "
     "write user_unit = \"app-*google*chrome*\""},
    {"user_unit = ['firefox.service', 'syncthing']", ""},
    {"exe = '/opt/**.bin'",
     "warning: '/opt/**.bin' may not match: '**' stands for several components only as one of its "
     "own | write \"/opt/**/*.bin\""},
    {"cgroup = '/a.slice/job**/x'",
     "warning: '/a.slice/job**/x' may not match: '**' stands for several components only as one of "
     "its own | write \"/a.slice/job*/**/x\""},
    {"cgroup = '/system.slice/docker-**'", ""},
    {"container = 'docker:dind'",
     "error: 'docker:dind' can never match: it is an image; 'container' is the container's name | "
     "write \"docker\""},
    {"thread = 'redis-server.service'",
     "error: 'redis-server.service' looks like a unit of systemd; 'thread' is the name of a thread "
     "| write unit = \"redis-server.service\""},
    {"cmdline = \"postgres: *[local] idle\"",
     "warning: 'postgres: *[local] idle' may not match what it was meant for: '[...]' is one of "
     "the characters in it | write \"postgres: *[[]local] idle\""},
    {"cmdline = \"*:6379 [cluster]*\"",
     "warning: '*:6379 [cluster]*' may not match what it was meant for: '[...]' is one of the "
     "characters in it | write \"*:6379 [[]cluster]*\""},
    {"cmdline = [\"*[0-9]*\", \"*[ab]*\", \"*[aeiou]*\", \"*[abcd]x\", \"*\\\\[local]*\", "
     "\"*[[:alpha:]]*\"]",
     ""},
    {"name = \"[priv]\"",
     "warning: '[priv]' is one of the characters in the brackets; ps has a kernel thread in "
     "brackets | write \"priv\""},
    {"name = [\"[ab]\", \"[0-9]*\", \"[abcd]\"]", ""},
    {"cgroup = \"/system.slice/system-redis-server.slice/redis-server@1.service\"",
     "warning: '/system.slice/system-redis-server.slice/redis-server@1.service' may not match: "
     "systemd writes the '-' in the name of a template as '\\x2d' in its slice | write "
     "'/system.slice/system-redis\\x2dserver.slice/redis-server@1.service'"},
    {"cgroup = \"/system.slice/system-redis.slice/system-redis-server.slice\"", ""},
    {"unit = \"system-redis-server.slice\"",
     "warning: 'system-redis-server.slice' may not match: systemd writes the '-' in the name of a "
     "template as '\\x2d' in its slice | write 'system-redis\\x2dserver.slice'"},
    {"unit = [\"system-redis.slice\", 'system-redis\\x2dserver.slice', \"user-1000.slice\"]", ""},
    {"name = \"redis-server.service\"",
     "error: 'redis-server.service' looks like a unit of systemd; 'name' is the name of a process "
     "| write unit = \"redis-server.service\""},
    {"name = \"redis-server memcached\"",
     "error: 'redis-server memcached' is one name with blanks in it | write [\"redis-server\", "
     "\"memcached\"]"},
    {"name = \"postgresql@16-main.service\"",
     "error: 'postgresql@16-main.service' looks like a unit of systemd; 'name' is the name of a "
     "process | write unit = \"postgresql@16-main.service\""},
    {"unit = [\"actions.runner.*.service\", \"ceph-*@osd.*.service\", "
     "\"snap.nextcloud.*.service\"]",
     ""},
    {"unit = \"docker-.*.service\"",
     "warning: 'docker-.*.service' may not match what it was meant for: in a glob, '.' stands for "
     "itself | write \"docker-*.service\""},
    {"unit = \"redis.*server.service\"",
     "warning: 'redis.*server.service' may not match what it was meant for: in a glob, '.' stands "
     "for itself | write \"redis*server.service\""},
    {"cgroup = \"/system.slice/snap.nextcloud.*.service\"", ""},
    {"cgroup = \"/a, /b\"",
     "error: '/a, /b' can never match: one pattern is one glob, and an array holds several | write "
     "[\"/a\", \"/b\"]"},
    {"cgroup = \"/a, /b and /c\"",
     "error: '/a, /b and /c' can never match: one pattern is one glob, and an array holds several "
     "| write [\"/a\", \"/b\", \"/c\"]"},
    {"cgroup = \"/a or /b\"",
     "error: '/a or /b' can never match: one pattern is one glob, and an array holds several | "
     "write [\"/a\", \"/b\"]"},
    {"unit = \"a.service, b.service and c.service\"",
     "error: 'a.service, b.service and c.service' can never match: one pattern is one glob, and an "
     "array holds several | write [\"a.service\", \"b.service\", \"c.service\"]"},
    {"name = \"tar, gzip, or xz\"",
     "error: 'tar, gzip, or xz' can never match: one pattern is one glob, and an array holds "
     "several | write [\"tar\", \"gzip\", \"xz\"]"},
    {"container = \"docker:redis\"",
     "error: 'docker:redis' can never match: the name of a container stands alone, without its "
     "runtime | write \"redis\""},
    {"container = \"lxc:web\"",
     "error: 'lxc:web' can never match: 'container' is one of docker, podman or Kubernetes | write "
     "cgroup = \"/lxc.payload.web\""},
    {"container = \"shop/redis-0/redis\"",
     "error: 'shop/redis-0/redis' can never match: the name of a container has no '/' | write "
     "container = \"redis\" and pod = \"shop/redis-0\""},
    {"name = \"a\u202fb\"", "warning: 'a\u202fb' has U+202F, a no-break space | write \"a b\""},
};

TEST(PolicyTried, Findings) { expect_findings(values_and_findings); }

constexpr PolicyAndErrors policies[] = {
    {"[[rule]]\ngroup = \"default\"\nvm = \"a\"\nvcpu = \"0-3,^2\"\n",
     "p.toml:4:8: error: '0-3,^2' is not a list of virtual CPUs\n"
     "    4 | vcpu = \"0-3,^2\"\n"
     "      |        ^~~~~~~~ write \"0-1,3\"\n"},
    {"[[rule]]\ngroup = \"default\"\nvm = \"a\"\nvcpu = \"*\"\n",
     "p.toml:4:8: error: '*' is not a list of virtual CPUs\n"
     "    4 | vcpu = \"*\"\n"
     "      |        ^~~ leave 'vcpu' out: 'vm' alone is the whole machine\n"},
    {"[group.a]\ncpus = \"0-3,^2\"\n",
     "p.toml:2:8: error: '0-3,^2' is not a CPU list: '^2' is not a number\n"
     "    2 | cpus = \"0-3,^2\"\n"
     "      |        ^~~~~~~~ write \"0-1,3\"\n"},
    {"[group.a]\ncpus = \"all\"\n",
     "p.toml:2:8: error: 'all' is not a CPU list: 'all' is not a number\n"
     "    2 | cpus = \"all\"\n"
     "      |        ^~~~~ name them, as in \"0-3,8\"; to give a group every process, write a "
     "[[rule]] with name = \"*\"\n"},
    {"[group.a]\nmin_bandwidth = \"10%\"\n",
     "p.toml:2:1: error: unknown key 'min_bandwidth' in [group.a]\n"
     "    2 | min_bandwidth = \"10%\"\n"
     "      | ^~~~~~~~~~~~~ did you mean 'mb_min'?\n"},
    {"[[rule]]\ngroup = \"default\"\nmin_bandwidth = \"10%\"\n",
     "p.toml:3:1: error: unknown key 'min_bandwidth' in [[rule]]\n"
     "    3 | min_bandwidth = \"10%\"\n"
     "      | ^~~~~~~~~~~~~ amounts belong in the rule's [group.NAME]\n"},
    {"llc:1=0xf\n",
     "p.toml:1:4: error: '=' is missing after the key 'llc'\n"
     "    1 | llc:1=0xf\n"
     "      |    ^ this is a value of pqos: 'rdtctl import --from FILE' makes a policy of its "
     "command lines\n"},
    {"mba_max:1=4000\n",
     "p.toml:1:8: error: '=' is missing after the key 'mba_max'\n"
     "    1 | mba_max:1=4000\n"
     "      |        ^ this is a value of pqos: 'rdtctl import --from FILE' makes a policy of its "
     "command lines\n"},
    {"core:1=0-3\n",
     "p.toml:1:5: error: '=' is missing after the key 'core'\n"
     "    1 | core:1=0-3\n"
     "      |     ^ this is a value of pqos: 'rdtctl import --from FILE' makes a policy of its "
     "command lines\n"},
    {"[[rule]]\ngroup = \"COS0\"\nname = \"x\"\n",
     "p.toml:2:9: error: unknown group 'COS0'\n"
     "    2 | group = \"COS0\"\n"
     "      |         ^~~~~~ class 0 is the group 'default' here\n"},
    {"[group.COS0]\n[[rule]]\ngroup = \"cos0\"\nname = \"x\"\n",
     "p.toml:1:8: warning: [group.COS0] is not class 0 of the processor\n"
     "    1 | [group.COS0]\n"
     "      |        ^~~~ class 0 is [group.default]\n"
     "p.toml:3:9: error: unknown group 'cos0'\n"
     "    3 | group = \"cos0\"\n"
     "      |         ^~~~~~ did you mean 'COS0'?\n"},
    {"[Unit]\nDescription=x\n[Service]\nMemoryMax=1\n",
     "p.toml:2:13: error: 'x' is not in quotes\n"
     "    2 | Description=x\n"
     "      |             ^ this is a unit file of systemd: a policy names the unit in a [[rule]], "
     "unit = \"NAME.service\"\n"},
    {"[Service]\nMemoryMax=1\n",
     "p.toml:1:2: error: unknown key 'Service' in a policy\n"
     "    1 | [Service]\n"
     "      |  ^~~~~~~ this is a unit file of systemd: a policy names the unit in a [[rule]], unit "
     "= \"NAME.service\"\n"},
    {"[group.a]\nl3 = { \"0 1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0 1' is not a list of domains: '0 1' is not a number\n"
     "    2 | l3 = { \"0 1\" = \"2 ways\" }\n"
     "      |        ^~~~~ write \"0,1\"\n"},
    {"[group.a]\nl3 = { \"0;1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0;1' is not a list of domains: '0;1' is not a number\n"
     "    2 | l3 = { \"0;1\" = \"2 ways\" }\n"
     "      |        ^~~~~ write \"0,1\"\n"},
    {"[group.a]\nl3 = { \"0/1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0/1' is not a list of domains: '0/1' is not a number\n"
     "    2 | l3 = { \"0/1\" = \"2 ways\" }\n"
     "      |        ^~~~~ write \"0,1\"\n"},
    {"[group.a]\nl3 = { \"0:1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0:1' is not a list of domains: '0:1' is not a number\n"
     "    2 | l3 = { \"0:1\" = \"2 ways\" }\n"
     "      |        ^~~~~ write \"0-1\"\n"},
    {"[group.a]\nl3 = { \"0..1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0..1' is not a list of domains: '0..1' is not a number\n"
     "    2 | l3 = { \"0..1\" = \"2 ways\" }\n"
     "      |        ^~~~~~ write \"0-1\"\n"},
    {"[group.a]\nl3 = { \"0 and 1\" = \"2 ways\" }\n",
     "p.toml:2:8: error: '0 and 1' is not a list of domains: '0 and 1' is not a number\n"
     "    2 | l3 = { \"0 and 1\" = \"2 ways\" }\n"
     "      |        ^~~~~~~~~ write \"0,1\"\n"},
    {"[group.web]\nmb = \"50%\"\n[group.web.cache]\nl3 = \"2 ways\"\n",
     "p.toml:3:12: error: unknown key 'cache' in [group.web]\n"
     "    3 | [group.web.cache]\n"
     "      |            ^~~~~ write l3 = \"2 ways\" in [group.web]\n"},
    {"[group.web]\nl3 = \"4 ways\"\n[group.web.db]\nl3 = \"2 ways\"\n",
     "p.toml:3:12: error: unknown key 'db' in [group.web]\n"
     "    3 | [group.web.db]\n"
     "      |            ^~ a '.' starts a sub-table: write [group.\"web.db\"]\n"},
    {"[group.a]\ncpus = \"0-62/2\"\n",
     "p.toml:2:8: error: '0-62/2' is not a CPU list: '62/2' is not a number\n"
     "    2 | cpus = \"0-62/2\"\n"
     "      |        ^~~~~~~~ for example \"0-3,8\"\n"},
    {"[rule]]\n",
     "p.toml:1:7: error: unexpected ']' after ']'\n"
     "    1 | [rule]]\n"
     "      |       ^ write [[rule]]\n"},
    {"[group.a]\ncpus = [\"0-3\", \"8\"]\n",
     "p.toml:2:8: error: 'cpus' must be a string, an integer or an array of integers, not an array "
     "with strings\n"
     "    2 | cpus = [\"0-3\", \"8\"]\n"
     "      |        ^~~~~~~~~~~~ write cpus = \"0-3,8\"\n"},
    {"[group.a]\ncpus = \"0\u20133\"\n",
     "p.toml:2:8: error: '0\u20133' is not a CPU list: '0\u20133' is not a number\n"
     "    2 | cpus = \"0\u20133\"\n"
     "      |        ^~~~~ write \"0-3\"\n"},
    {"[group.a]\ncpus = \"0/1\"\n",
     "p.toml:2:8: error: '0/1' is not a CPU list: '0/1' is not a number\n"
     "    2 | cpus = \"0/1\"\n"
     "      |        ^~~~~ write \"0,1\"\n"},
    {"[group.web]\n[[rule]]\ngroups = [\"web\"]\nname = \"x\"\n",
     "p.toml:3:1: error: unknown key 'groups' in [[rule]]\n"
     "    3 | groups = [\"web\"]\n"
     "      | ^~~~~~ write group = \"web\"\n"},
    {"[group.web]\n[[rule]]\ngroup = \"web\"\ngroups = [\"staff\"]\n",
     "p.toml:4:1: error: unknown key 'groups' in [[rule]]\n"
     "    4 | groups = [\"staff\"]\n"
     "      | ^~~~~~ did you mean 'user_group'?\n"},
    {"[group.a]\nl3 = \"4\u202fways\"\n",
     "p.toml:2:6: error: '4\u202fways' has U+202F, a no-break space\n"
     "    2 | l3 = \"4\u202fways\"\n"
     "      |      ^~~~~~~~ write an ordinary space\n"},
    {"[group.a]\nl3\u202f= \"4 ways\"\n",
     "p.toml:2:3: error: U+202F, a no-break space, is not a space in TOML\n"
     "    2 | l3\u202f= \"4 ways\"\n"
     "      |   ^ write an ordinary space\n"},
    {"[group.a]\nmb = [\"10%\", \"100%\"]\n",
     "p.toml:2:14: error: '100%' is never used: '10%' is for the same machines\n"
     "    2 | mb = [\"10%\", \"100%\"]\n"
     "      |              ^~~~~~ write \"10%..100%\" for a range\n"},
    {"[group.a]]\nl3 = \"4 ways\"\n",
     "p.toml:1:10: error: unexpected ']' after ']'\n"
     "    1 | [group.a]]\n"
     "      |          ^ remove it: nothing follows a value\n"},
    {"group db { l3 = \"30%\" }\n",
     "p.toml:1:7: error: '=' is missing after the key 'group'\n"
     "    1 | group db { l3 = \"30%\" }\n"
     "      |       ^ write [group.db], and each key in a line of its own below\n"},
    {"group.db { l3 = \"30%\" }\n",
     "p.toml:1:10: error: '=' is missing after the key 'group.db'\n"
     "    1 | group.db { l3 = \"30%\" }\n"
     "      |          ^ write [group.db], and each key in a line of its own below\n"},
    {"rule { name = \"x\" }\n",
     "p.toml:1:6: error: '=' is missing after the key 'rule'\n"
     "    1 | rule { name = \"x\" }\n"
     "      |      ^ write [[rule]], and each key in a line of its own below\n"},
    {"[group.a]\nl3 = 30\n",
     "p.toml:2:6: error: 'l3' must be a string or a table that maps domains to amounts, not an "
     "integer\n"
     "    2 | l3 = 30\n"
     "      |      ^~ write \"30%\"\n"},
    {"[daemon]\nreaders = Admins\n",
     "p.toml:2:11: error: 'Admins' is not in quotes\n"
     "    2 | readers = Admins\n"
     "      |           ^~~~~~ quote it: \"Admins\"\n"},
    {"[daemon]\nlog_level = DEBUG\n",
     "p.toml:2:13: error: 'DEBUG' is not in quotes\n"
     "    2 | log_level = DEBUG\n"
     "      |             ^~~~~ write \"debug\"\n"},
    {"[[rule]]\ngroup = \"default\"\nany = [{ name = \"x\" }, { user = \"y\" }]\n",
     "p.toml:3:1: error: unknown key 'any' in [[rule]]\n"
     "    3 | any = [{ name = \"x\" }, { user = \"y\" }]\n"
     "      | ^~~ all conditions of a rule must hold, an array holds if one of its members does, "
     "and alternatives are one [[rule]] each\n"},
    {"```toml\n[group.a]\n```\n",
     "p.toml:1:1: error: unexpected '`'; a key must stand here\n"
     "    1 | ```toml\n"
     "      | ^ remove this line: Markdown has it around a text\n"},
};

TEST(PolicyTried, Errors) { expect_errors(policies); }

}  // namespace
}  // namespace rdtd::policy_tried
