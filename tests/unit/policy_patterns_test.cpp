// Values of conditions that nothing can match, and those that are only odd, with their whole texts.
#include "policy_support.hpp"

namespace rdtd::policy_patterns {
namespace {

using test::expect_errors;
using test::expect_findings;
using test::PolicyAndErrors;
using test::ValueAndFinding;

constexpr ValueAndFinding values_and_findings[] = {
    // Good ones.
    {"name = ['[a-z]', '[0-9_]', '[A-Za-z]', 'docker init', 'a-b', '[ab]c']", ""},
    {"cmdline = ['java', 'java -jar *']", ""},
    {"cmdline = ['java', '-jar*']", ""},
    {"cmdline = ['-bash', '-zsh']", ""},
    {"cmdline = ['bash', '-bash', 'bash *']", ""},
    {"pod = 'default/[a=]*'", ""},
    {"container = ['redis', 'cron-*']", ""},
    {"name = ['tar', 'g*zip', 'kworker/0:*', 'irq/35-nvme', 'python3.*', 'java*', '(sd-pam)']", ""},
    {R"(name = ['a\|b', 'a[,]b', '\^x', 'x\$', 'tar[.]*', 'tmux: server', 'Web Content'])", ""},
    {"exe = ['/usr/bin/tar', '/usr/lib/jvm/**', '**/bin/java', '/opt/a,b/x', '/usr/bin/python3.*']",
     ""},
    {"cmdline = ['*--list a,b*', '*.py $', 'java -jar x', '/usr/bin/x *', '*python3.* -m x']", ""},
    {"cgroup = ['/', '/system.slice/', '/kubepods.slice/**/*abc*', '**/x.service', '/a/redis.*']",
     ""},
    {"unit = ['redis', 'php*-fpm.service', 'foo@*', 'user-1000.slice', 'redis.*', 'a@b']", ""},
    {"user_unit = ['app-*', 'redis-server.service']", ""},
    {"user = ['root', 'www-data', 'CORP\\alice', 'alice@corp.example', 'host1$', 0]", ""},
    {"user_group = ['domain users', 'users', 100]", ""},
    // Paths for names.
    {"name = '/usr/bin/tar'",
     "error: '/usr/bin/tar' can never match: the name of a process has no directory | write "
     "\"tar\", or exe = \"/usr/bin/tar\""},
    {"name = '/bin/a-very-long-name'",
     "error: '/bin/a-very-long-name' can never match: the name of a process has no directory | "
     "write \"a-very-long-nam\", or exe = \"/bin/a-very-long-name\""},
    {"thread = './worker'",
     "error: './worker' can never match: the name of a process has no directory | write "
     "\"worker\""},
    {"name = '**/tar'",
     "warning: '**/tar' looks like a path; 'name' is the name of a process | write exe = "
     "\"**/tar\""},
    {"name = 'redis '",
     "warning: 'redis ' ends with a blank, which few names do | write \"redis\""},
    {"thread = ' io'", "warning: ' io' begins with a blank, which few names do | write \"io\""},
    {"cmdline = '--port 6379'",
     "warning: '--port 6379' is the whole command line, which begins with the program | write "
     "\"*--port 6379*\""},
    {"cmdline = '-bash'", ""},
    {"name = 'a name of 14 c '", ""},
    {"unit = '*.socket'",
     "warning: '*.socket' has no processes for long: a socket starts a service | name the "
     "services"},
    {"unit = 'ssh.socket'",
     "warning: 'ssh.socket' has no processes for long: a socket starts a service | write "
     "\"ssh.service\""},
    {"name = 'redis.service'",
     "warning: 'redis.service' looks like a unit of systemd; 'name' is the name of a process | "
     "write unit = \"redis.service\""},
    // Alternatives in one text.
    {"name = 'tar|gzip'",
     "error: 'tar|gzip' can never match: one pattern is one glob, and an array holds several | "
     "write [\"tar\", \"gzip\"]"},
    {"name = 'tar, gzip'",
     "error: 'tar, gzip' can never match: one pattern is one glob, and an array holds several | "
     "write [\"tar\", \"gzip\"]"},
    {"name = ['xz', 'tar|gzip']",
     "error: 'tar|gzip' can never match: one pattern is one glob, and an array holds several | "
     "write \"tar\", \"gzip\""},
    {"thread = 'dpdk-{rx,tx}*'",
     "error: 'dpdk-{rx,tx}*' can never match: one pattern is one glob, and an array holds several "
     "| "
     "write [\"dpdk-rx*\", \"dpdk-tx*\"]"},
    {"exe = '/usr/bin/(tar|gzip)'",
     "error: '/usr/bin/(tar|gzip)' can never match: one pattern is one glob, and an array holds "
     "several | write [\"/usr/bin/tar\", \"/usr/bin/gzip\"]"},
    {"exe = '/usr/bin/a,/usr/bin/b'",
     "error: '/usr/bin/a,/usr/bin/b' can never match: one pattern is one glob, and an array holds "
     "several | write [\"/usr/bin/a\", \"/usr/bin/b\"]"},
    {"unit = 'a.service b.service'",
     "error: 'a.service b.service' can never match: one pattern is one glob, and an array holds "
     "several | write [\"a.service\", \"b.service\"]"},
    {"cmdline = '*foo|bar*'",
     "warning: '*foo|bar*' may not match what it was meant for: one pattern is one glob, and an "
     "array holds several | write [\"*foo\", \"bar*\"]"},
    {"cmdline = 'foo|bar'",
     "warning: 'foo|bar' may not match what it was meant for: one pattern is one glob, and an "
     "array holds several | write [\"*foo*\", \"*bar*\"]"},
    // Regular expressions.
    {"name = '^tar$'",
     "error: '^tar$' can never match: it is a glob, not a regular expression, and matches the "
     "whole "
     "text | write \"tar\""},
    {"name = '^tar'",
     "error: '^tar' can never match: it is a glob, not a regular expression, and matches the whole "
     "text | write \"tar*\""},
    {"name = 'd$'",
     "error: 'd$' can never match: it is a glob, not a regular expression, and matches the whole "
     "text | write \"*d\""},
    {"name = '^(tar|gz.+)$'",
     "error: '^(tar|gz.+)$' can never match: one pattern is one glob, and an array holds several | "
     "write [\"tar\", \"gz?*\"]"},
    {"exe = '^/usr/bin/.*'",
     "error: '^/usr/bin/.*' can never match: it is a glob, not a regular expression, and matches "
     "the whole text | write \"/usr/bin/*\""},
    {"cmdline = '^java .*-jar'",
     "error: '^java .*-jar' can never match: it is a glob, not a regular expression, and matches "
     "the whole text | write \"java *-jar*\""},
    {"name = 'tar.*'",
     "warning: 'tar.*' may not match what it was meant for: in a glob, '.' stands for itself | "
     "write \"tar*\""},
    {"cmdline = '.*java.*'",
     "warning: '.*java.*' may not match what it was meant for: in a glob, '.' stands for itself | "
     "write \"*java*\""},
    {"unit = 'docker-.*'",
     "warning: 'docker-.*' may not match what it was meant for: in a glob, '.' stands for itself | "
     "write \"docker-*\""},
    // Paths.
    {"exe = 'bin/tar'",
     "error: 'bin/tar' can never match: an executable's path begins with '/' | write "
     "\"**/bin/tar\""},
    {"exe = '/usr/bin/'",
     "error: '/usr/bin/' can never match: it is the path of a directory | write \"/usr/bin/*\", or "
     "\"/usr/bin/**\" for all directories below"},
    {"exe = '/usr//bin/../tar'",
     "error: '/usr//bin/../tar' can never match: the kernel shows paths without '//' | write "
     "\"/usr/tar\""},
    {"cgroup = 'system.slice'",
     "error: 'system.slice' can never match: a cgroup path begins with '/' | write "
     "\"/system.slice\""},
    {"cgroup = '/sys/fs/cgroup/system.slice'",
     "error: '/sys/fs/cgroup/system.slice' can never match: the path of a cgroup begins at the "
     "root "
     "of its hierarchy | write \"/system.slice\""},
    {"cgroup = '/sys/fs/cgroup'",
     "error: '/sys/fs/cgroup' can never match: the path of a cgroup begins at the root of its "
     "hierarchy | write \"/\""},
    {"cgroup = '/sys/fs/cgroup/cpu,cpuacct/system.slice'",
     "error: '/sys/fs/cgroup/cpu,cpuacct/system.slice' can never match: the path of a cgroup "
     "begins "
     "at the root of its hierarchy | write \"/system.slice\""},
    {"cgroup = 'cpu:/user.slice'",
     "error: 'cpu:/user.slice' can never match: the path of a cgroup begins at the root of its "
     "hierarchy | write \"/user.slice\""},
    {"cgroup = '0::/user.slice'",
     "error: '0::/user.slice' can never match: the path of a cgroup begins at the root of its "
     "hierarchy | write \"/user.slice\""},
    {R"(cgroup = '0::/machine.slice/machine-a\x2db.scope')",
     "error: '0::/machine.slice/machine-a\\x2db.scope' can never match: the path of a cgroup "
     "begins "
     "at the root of its hierarchy | write '/machine.slice/machine-a\\x2db.scope'"},
    {"cgroup = '/a/./b'",
     "error: '/a/./b' can never match: the kernel shows paths without '/./' | write \"/a/b\""},
    // Units.
    {"unit = '/etc/systemd/system/redis.service'",
     "error: '/etc/systemd/system/redis.service' can never match: the name of a unit has no '/' | "
     "write \"redis.service\""},
    {"unit = 'user-%U.slice'",
     "error: 'user-%U.slice' can never match: the name of a unit has no '%' | rules have no "
     "specifiers: write \"user-*.slice\""},
    {"exe = '/opt/backup/run.sh'",
     "warning: '/opt/backup/run.sh' may not match: the executable of a script is its interpreter | "
     "'name' or 'cmdline' matches a script"},
    {"exe = ['/bin/tar', '/usr/bin/tar']", ""},
    {"unit = 'caf\u00e9'",
     "error: 'caf\u00e9' can never match: the name of a unit has no '\u00e9'"},
    {"unit = 'getty@'",
     "error: 'getty@' can never match: a template has no processes, only its instances have | "
     "write "
     "\"getty@*.service\""},
    {"unit = 'backup.timer'",
     "error: 'backup.timer' can never match: no process is in a timer | write \"backup.service\""},
    {"user_unit = 'user@1000'",
     "error: 'user@1000' can never match: user_unit names a unit of a user's own service manager"
     " | write unit = \"user@1000.service\""},
    {"user_unit = 'user-1000.slice'",
     "error: 'user-1000.slice' can never match: user_unit names a unit of a user's own service "
     "manager | write unit = \"user-1000.slice\""},
    {"unit = 'multi-user.target'",
     "error: 'multi-user.target' can never match: no process is in a target"},
    // Users.
    {"user = '*'",
     "error: '*' can never match: 'user' takes names and numbers, not patterns | name = \"*\" "
     "holds "
     "for every process"},
    {"user = 'www-*'",
     "error: 'www-*' can never match: 'user' takes names and numbers, not patterns | list them: "
     "user = [\"NAME\", \"NAME\"]"},
    {"user = '@students'",
     "error: '@students' can never match: no user has this name | write user_group = \"students\""},
    {"user_group = '%wheel'",
     "error: '%wheel' can never match: no user group has this name | write user_group = \"wheel\""},
    {"vm = 'web\\x2d1'",
     "error: 'web\\x2d1' can never match: it is the name that 'virsh list' shows | write "
     "\"web-1\""},
    {"unit = 'nginx service'",
     "error: 'nginx service' can never match: a unit has a '.' before its type | write "
     "\"nginx.service\""},
    {"unit = 'redis nginx.service'",
     "error: 'redis nginx.service' can never match: one pattern is one glob, and an array holds "
     "several | write [\"redis\", \"nginx.service\"]"},
    {"unit = 'nginx.service, redis.service'",
     "error: 'nginx.service, redis.service' can never match: one pattern is one glob, and an array "
     "holds several | write [\"nginx.service\", \"redis.service\"]"},
    {"user = '+1000'", "error: '+1000' can never match: a number has no sign | write \"1000\""},
    {"user = '1000-1999'",
     "error: '1000-1999' can never match: there are no ranges of numbers | list the numbers, or "
     "use "
     "user_group or unit"},
    {"user = 'redis:redis'",
     "error: 'redis:redis' can never match: the name of a user has no ':' | write user = "
     "\"redis\""},
    {"user = 'root,daemon'",
     "error: 'root,daemon' can never match: the name of a user has no ',' | write user = "
     "[\"root\", \"daemon\"]"},
    {"user = 'alice bob'",
     "warning: 'alice bob' is one name with a blank in it | write user = [\"alice\", \"bob\"]"},
    // Odd ones.
    {"exe = '/usr/bin/redis$'",
     "error: '/usr/bin/redis$' can never match: it is a glob, not a regular expression, and "
     "matches the whole text | write \"/usr/bin/redis\""},
    {"exe = '/bin/tar'",
     "warning: '/bin/tar' may not match: where /bin is a link, the kernel shows /usr/bin/tar | "
     "write [\"/bin/tar\", \"/usr/bin/tar\"]"},
    {"exe = '/usr/bin/python3 x.py'",
     "warning: '/usr/bin/python3 x.py' looks like a command with arguments; 'exe' matches the "
     "path of the executable | 'cmdline' matches the arguments"},
    {"exe = '/opt/My Program/bin/x'", ""},
    {"name = '/regex/'",
     "error: '/regex/' can never match: the name of a process has no directory | write \"regex\""},
    {"name = 'redis-server --port 6379'",
     "error: 'redis-server --port 6379' can never match: the kernel cuts names to 15 bytes | "
     "write cmdline = \"*redis-server --port 6379*\""},
    {"name = '!tar'",
     "warning: '!tar' is a text that begins with '!': no condition negates | to leave processes "
     "alone, write group = \"leave\" in an earlier rule"},
    {"unit = 'nginx.services'",
     "warning: 'nginx.services' is the service 'nginx.services.service' | write "
     "\"nginx.service\""},
    {"unit = ['php8.2-fpm', 'a.b', 'org.example.Daemon']", ""},
    // Virtual machines.
    {"vm = ['web*', 'web-1', '100', 'qemu']", ""},
    {"vm = 'machine-qemu\\x2d1\\x2dweb.scope'",
     "error: 'machine-qemu\\x2d1\\x2dweb.scope' can never match: it is the name that 'virsh list' "
     "shows | write \"web\""},
    {"vm = '100.scope'",
     "error: '100.scope' can never match: it is the name that 'virsh list' shows | write \"100\""},
    {"vm = 'guest=web'",
     "error: 'guest=web' can never match: it is the name alone | write \"web\""},
    {"vm = '/machine.slice/x'",
     "error: '/machine.slice/x' can never match: it is the name of a virtual machine; 'cgroup' "
     "matches a path"},
    {"vm = 'machine.slice'",
     "error: 'machine.slice' can never match: it is the name of a virtual machine; 'unit' matches "
     "a slice"},
    {"vm = 'qemu-1-web'",
     "warning: 'qemu-1-web' looks like libvirt's name for a process; 'vm' is the name that 'virsh "
     "list' shows | write \"web\""},
    {"user = 'uid:1000'",
     "error: 'uid:1000' can never match: the value stands alone, without a word "
     "before it | write \"1000\""},
    {"user = '!root'",
     "warning: '!root' is a text that begins with '!': no condition negates | to leave processes "
     "alone, write group = \"leave\" in an earlier rule"},
    // Pods and containers.
    {"pod = ['default/web-*', '*/redis-0', 'kube-system/*', '*/*']", ""},
    {"container = ['redis', 'web_1', 'k8s*', '*']", ""},
    {"name = '[kworker]'",
     "warning: '[kworker]' is one of the characters in the brackets; ps has a kernel thread in "
     "brackets | write \"kworker/*\""},
    {"name = '[kworker/0:1]'",
     "warning: '[kworker/0:1]' is one of the characters in the brackets; ps has a kernel thread in "
     "brackets | write \"kworker/0:1\""},
    {"name = '[kthreadd]'",
     "warning: '[kthreadd]' is one of the characters in the brackets; ps has a kernel thread in "
     "brackets | write \"kthreadd\""},
    {"name = '[kworker/0:1-events]'",
     "warning: '[kworker/0:1-events]' is one of the characters in the brackets; ps has a kernel "
     "thread in brackets | write \"kworker/0:1*\""},
    {"container = 'ghcr.io/*'",
     "error: 'ghcr.io/*' can never match: it is an image; 'container' is the container's name"},
    {"name = 'tar gzip xz'",
     "warning: 'tar gzip xz' is one name with blanks in it | write [\"tar\", \"gzip\", \"xz\"]"},
    {"cmdline = ['java', '-jar', 'x.jar']",
     "warning: each pattern of 'cmdline' is a whole command line, and these look like the words "
     "of one | write \"*java -jar x.jar*\""},
    {"container = 'docker.io/library/redis:7'",
     "error: 'docker.io/library/redis:7' can never match: it is an image; 'container' is the "
     "container's name | write \"redis\""},
    {"container = 'library/redis@sha256:0a'",
     "error: 'library/redis@sha256:0a' can never match: it is an image; 'container' is the "
     "container's name | write \"redis\""},
    {"pod = '8f2c1d3e-0000-4abc-9def-0123456789ab'",
     "error: '8f2c1d3e-0000-4abc-9def-0123456789ab' can never match: it is the UID of a pod; a pod "
     "is NAMESPACE/NAME | 'kubectl get pods -A' shows both"},
    {"pod = 'app=redis'",
     "error: 'app=redis' can never match: rdtd knows no labels; a pod is NAMESPACE/NAME | 'kubectl "
     "get pods -A -l LABEL' shows both"},
    {"pod = 'redis-*'",
     "error: 'redis-*' has no namespace: a pod is NAMESPACE/NAME | write \"*/redis-*\""},
    {"pod = \"default:redis\"",
     "error: 'default:redis' can never match: a pod is NAMESPACE/NAME | write \"default/redis\""},
    {"pod = '/redis'",
     "error: '/redis' can never match: a pod is NAMESPACE/NAME | write \"*/redis\""},
    {"pod = 'shop/'", "error: 'shop/' can never match: a pod is NAMESPACE/NAME | write \"shop/*\""},
    {"pod = '/shop/redis'",
     "error: '/shop/redis' can never match: a pod is NAMESPACE/NAME, with one '/' | write "
     "\"shop/redis\""},
    {"pod = 'shop/redis/main'",
     "error: 'shop/redis/main' can never match: a pod is NAMESPACE/NAME, with one '/' | "
     "write pod = \"shop/redis\" and container = \"main\""},
    {"pod = 'Shop/redis'",
     "error: 'Shop/redis' can never match: Kubernetes' names have no capital letters | write "
     "\"shop/redis\""},
    {"pod = 'shop/my_redis'",
     "error: 'shop/my_redis' can never match: Kubernetes' names have no '_'"},
    {"container = '/web'",
     "error: '/web' can never match: the name of a container has no '/' | write \"web\""},
    {"container = 'shop/web'",
     "error: 'shop/web' can never match: the name of a container has no '/' | write container = "
     "\"web\"; pod = \"shop/*\" is for the pod"},
    {"container = '0123456789ab'",
     "warning: '0123456789ab' looks like the ID of a container; 'container' is its name | write "
     "cgroup = \"**/*0123456789ab*\""},
    // Names that the kernel does not cut, slips that look right, and names of other kinds.
    {"name = ['rcu_exp_par_gp_kthread_worker/0', 'kworker/u8:3-ext4-rsv-conversion', 'irq/125-PCIe "
     "PME and more']",
     ""},
    {"name = 'nvidia-persistenced'",
     "error: 'nvidia-persistenced' can never match: the kernel cuts names to 15 bytes | write "
     "\"nvidia-persiste\", or use 'exe'"},
    {"name = 'kworker/u8:3-ext4-rsv-conversion-and-much-more-than-sixty-three-bytes'",
     "error: 'kworker/u8:3-ext4-rsv-conversion-and-much-more-than-sixty-three-...' can never "
     "match: the kernel cuts the names of its threads to 63 bytes | write \"kworker/u8:3-ex*\""},
    {"thread = 'C2 CompilerThread0'",
     "error: 'C2 CompilerThread0' can never match: the kernel cuts names to 15 bytes | write \"C2 "
     "CompilerThre\""},
    {"name = 'C2 CompilerThread0'",
     "error: 'C2 CompilerThread0' can never match: the kernel cuts names to 15 bytes | write \"C2 "
     "CompilerThre\""},
    {"name = 'nginx: worker process'",
     "error: 'nginx: worker process' can never match: the kernel cuts names to 15 bytes | write "
     "\"nginx\", or cmdline = \"nginx: worker process*\""},
    {"thread = 'nginx: worker process'",
     "error: 'nginx: worker process' can never match: the kernel cuts names to 15 bytes | write "
     "\"nginx\""},
    {"name = 'postgres: checkpointer'",
     "error: 'postgres: checkpointer' can never match: the kernel cuts names to 15 bytes | write "
     "\"postgres\", or cmdline = \"postgres: checkpointer*\""},
    {"thread = 'redis-server --port 6379'",
     "error: 'redis-server --port 6379' can never match: the kernel cuts names to 15 bytes | write "
     "\"redis-server\""},
    {"thread = 'a-very-long-name'",
     "error: 'a-very-long-name' can never match: the kernel cuts names to 15 bytes | write "
     "\"a-very-long-nam\""},
    {"name = 'proze\u00df-mit-f\u00fcnf\u00df'",
     "error: 'proze\u00df-mit-f\u00fcnf\u00df' can never match: the kernel cuts names to 15 bytes "
     "| write \"proze\u00df-mit-f\u00fc\", or use 'exe'"},
    {"thread = '/usr/bin/a-very-long-name'",
     "error: '/usr/bin/a-very-long-name' can never match: the name of a process has no directory | "
     "write \"a-very-long-nam\""},
    {"exe = '/usr/bin/foo (deleted)'",
     "error: '/usr/bin/foo (deleted)' can never match: rdtd leaves out what the kernel adds to the "
     "path of a replaced program | write \"/usr/bin/foo\""},
    {"name = 'tar gzip'",
     "warning: 'tar gzip' is one name with blanks in it | write [\"tar\", \"gzip\"]"},
    {"name = ['docker init', 'Web Content']", ""},
    {"name = 'tar; gzip'",
     "error: 'tar; gzip' can never match: one pattern is one glob, and an array holds several | "
     "write [\"tar\", \"gzip\"]"},
    {"name = '\"tar\"'", "warning: \"tar\" has quotes within its quotes | write \"tar\""},
    {"name = \"'tar'\"", "warning: 'tar' has quotes within its quotes | write \"tar\""},
    {"name = \"tar\\n\"", "warning: 'tar<U+000A>' has U+000A, a control character | write \"tar\""},
    {"name = \"redis\\u200b\"",
     "warning: 'redis<U+200B>' has U+200B, which is invisible | write \"redis\""},
    {"exe = \"\\ufeff/usr/bin/tar\"",
     "warning: '<U+FEFF>/usr/bin/tar' has U+FEFF, which is invisible | write \"/usr/bin/tar\""},
    {"exe = \"/usr/bin/tar\\u2060\"",
     "warning: '/usr/bin/tar<U+2060>' has U+2060, which is invisible | write \"/usr/bin/tar\""},
    {"user = \"root\\n\"",
     "error: 'root<U+000A>' has U+000A, a control character | write \"root\""},
    {"user = \" root\"", "error: ' root' begins with a blank | write \"root\""},
    {"cgroup = \"/system.slice \"",
     "warning: '/system.slice ' ends with a blank | write \"/system.slice\""},
    {"exe = \"/usr/bin/tar \"",
     "warning: '/usr/bin/tar ' ends with a blank | write \"/usr/bin/tar\""},
    {"unit = \"redis.service\\u200b\"",
     "error: 'redis.service<U+200B>' has U+200B, which is invisible | write \"redis.service\""},
    {"unit = \"redis.service \"",
     "error: 'redis.service ' ends with a blank | write \"redis.service\""},
    {"unit = \"r\\u0435dis\"",
     "error: 'r\u0435dis' has U+0435, which looks like 'e' | write \"redis\""},
    {"name = \"r\\u0435dis\"",
     "warning: 'r\u0435dis' has U+0435, which looks like 'e' | write \"redis\""},
    {"name = \"redis\\u2013server\"",
     "warning: 'redis\u2013server' has U+2013, which looks like '-' | write \"redis-server\""},
    {"name = [\"\\u0440\\u0435\\u0434\", \"\\u00e9t\\u00e9\"]", ""},
    {"cmdline = \"sh -c *\\n*\"", ""},
    {"unit = \"-.slice\"",
     "error: '-.slice' can never match: the root slice has no cgroup, and holds every process | "
     "name = \"*\" holds for every process"},
    {"unit = \"kubepods\"",
     "warning: 'kubepods' is the service 'kubepods.service' | write \"kubepods.slice\""},
    {"unit = \"machine\"",
     "warning: 'machine' is the service 'machine.service' | write \"machine.slice\""},
    {"unit = \"user-1000\"",
     "warning: 'user-1000' is the service 'user-1000.service' | write \"user-1000.slice\""},
    {"unit = \"init\"", "warning: 'init' is the service 'init.service' | write \"init.scope\""},
    {"user_unit = \"app\"", "warning: 'app' is the service 'app.service' | write \"app.slice\""},
    {"unit = \"machine-qemu-1-web.scope\"",
     "warning: 'machine-qemu-1-web.scope' may not match: systemd writes the '-' in the name of a "
     "machine as '\\x2d' | write 'machine-qemu\\x2d1\\x2dweb.scope'"},
    {"cgroup = \"/machine.slice/machine-qemu-1-web.scope\"",
     "warning: '/machine.slice/machine-qemu-1-web.scope' may not match: systemd writes the '-' in "
     "the name of a machine as '\\x2d' | write '/machine.slice/machine-qemu\\x2d1\\x2dweb.scope'"},
    {"cgroup = ['/machine.slice/machine-qemu\\x2d1\\x2dweb.scope', "
     "'/machine.slice/machine-web.scope']",
     ""},
    {"cgroup = \"/user.slice/user-$UID.slice\"",
     "error: '/user.slice/user-$UID.slice' can never match: rules have no variables | write "
     "\"/user.slice/user-*.slice\""},
    {"cgroup = \"/user.slice/user-${UID}.slice/x\"",
     "error: '/user.slice/user-${UID}.slice/x' can never match: rules have no variables | write "
     "\"/user.slice/user-*.slice/x\""},
    {"cgroup = \"/user.slice/user-%U.slice\"",
     "error: '/user.slice/user-%U.slice' can never match: rules have no specifiers | write "
     "\"/user.slice/user-*.slice\""},
    {"cgroup = \"/a/50%\"", ""},
    {"unit = \"user-$UID.slice\"",
     "error: 'user-$UID.slice' can never match: the name of a unit has no '$' | rules have no "
     "variables: write \"user-*.slice\""},
    {"vm = \"web.xml\"",
     "warning: 'web.xml' looks like the file of a virtual machine; 'vm' is the name that 'virsh "
     "list' shows | write \"web\""},
    {"vm = \"web.scope\"",
     "error: 'web.scope' can never match: it is the name that 'virsh list' shows | write \"web\""},
    {"vm = \"8F2c1d3e-0000-4abc-9def-0123456789ab\"",
     "warning: '8F2c1d3e-0000-4abc-9def-0123456789ab' looks like a UUID; 'vm' is the name that "
     "'virsh list' shows | 'virsh domname 8F2c1d3e-0000-4abc-9def-0123456789ab' shows it"},
    {"vm = \"\xe6\xb5\x8b\"",
     "warning: '\xe6\xb5\x8b' may not match: libvirt names the scope of a machine by the ASCII "
     "letters and digits of its name, and this has none"},
    {"vm = \"web-\xe6\xb5\x8b\"", ""},
    {"container = \"redis:7\"",
     "error: 'redis:7' can never match: it is an image; 'container' is the container's name | "
     "write \"redis\""},
    {"user = \">=1000\"",
     "error: '>=1000' can never match: there are no ranges of numbers | list the numbers, or use "
     "user_group or unit"},
    {"user = \"1000+\"",
     "error: '1000+' can never match: there are no ranges of numbers | list the numbers, or use "
     "user_group or unit"},
    {"user = \"1000..2000\"",
     "error: '1000..2000' can never match: there are no ranges of numbers | list the numbers, or "
     "use user_group or unit"},
    {"user = \"0;1\"",
     "error: '0;1' can never match: the name of a user has no ';' | write user = [\"0\", \"1\"]"},
    {"user = \"007\"", "error: '007' begins with a 0, which no number does | write \"7\""},
};

TEST(PolicyPatterns, Findings) { expect_findings(values_and_findings); }

constexpr PolicyAndErrors with_place[] = {
    {"[[rule]]\ngroup = \"default\"\nname = [\"xz\", \"tar|gzip\"]\n",
     R"(p.toml:3:15: error: 'tar|gzip' can never match: one pattern is one glob, and an array holds several
    3 | name = ["xz", "tar|gzip"]
      |               ^~~~~~~~~~ write "tar", "gzip"
)"},
};

TEST(PolicyPatterns, Place) { expect_errors(with_place); }

}  // namespace
}  // namespace rdtd::policy_patterns
