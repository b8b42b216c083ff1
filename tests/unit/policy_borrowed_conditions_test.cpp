// Conditions that users bring from other languages and tools: variables, regular expressions, paths
// and names that systemd does not make so. With the whole texts.
#include "policy_support.hpp"

namespace rdtd::policy_borrowed_conditions {
namespace {

using test::expect_findings;
using test::ValueAndFinding;

constexpr ValueAndFinding conditions[] = {
    {"name = \"${BATCH}\"",
     "error: '${BATCH}' can never match: rules have no variables | write the text itself"},
    {"name = \"web-$ENV\"",
     "warning: 'web-$ENV' may not match what it was meant for: rules have no variables | write "
     "\"web-*\""},
    {"name = \"web-\\\\$ENV\"", ""},
    {"exe = \"/opt/${VERSION}/bin/x\"",
     "error: '/opt/${VERSION}/bin/x' can never match: rules have no variables | write "
     "\"/opt/*/bin/x\""},
    {"exe = \"$ORACLE_HOME/bin/oracle\"",
     "error: '$ORACLE_HOME/bin/oracle' can never match: an executable's path begins with '/' | "
     "write \"**/bin/oracle\""},
    {"cmdline = \"$JAVA_HOME/bin/java *\"",
     "error: '$JAVA_HOME/bin/java *' can never match: rules have no variables | write \"*/bin/java "
     "*\""},
    {"cmdline = \"sh -c echo $HOME\"", ""},
    {"user = \"$USER\"",
     "error: '$USER' can never match: rules have no variables | write the name itself"},
    {"user = \"%u\"",
     "error: '%u' can never match: rules have no specifiers | write the name itself"},
    {"unit = \"$UNIT\"",
     "error: '$UNIT' can never match: the name of a unit has no '$' | rules have no variables: "
     "write the text itself"},
    {"unit = \"%n\"",
     "error: '%n' can never match: the name of a unit has no '%' | rules have no specifiers: write "
     "the text itself"},
    {"vm = \"{{ inventory_hostname }}\"",
     "error: '{{ inventory_hostname }}' can never match: it is a template | rdtd reads what is "
     "made from it"},
    {"user = \"{{ user }}\"",
     "error: '{{ user }}' can never match: it is a template | rdtd reads what is made from it"},
    {"cmdline = \"docker inspect --format {{.Id}}\"", ""},
    {"name = \"mysql%\"",
     "warning: 'mysql%' may not match what it was meant for: in a glob, '%' stands for itself | "
     "write \"mysql*\""},
    {"name = \"%i\"",
     "warning: '%i' may not match what it was meant for: in a glob, '%' stands for itself"},
    {"exe = \"/home/%u/bin/x\"",
     "warning: '/home/%u/bin/x' may not match what it was meant for: in a glob, '%' stands for "
     "itself | write \"/home/*/bin/x\""},
    {"name = \"user:mysql\"",
     "warning: 'user:mysql' may not match what it was meant for: the value stands alone, without a "
     "word before it | write user = \"mysql\""},
    {"name = \"exe:/usr/bin/tar\"",
     "error: 'exe:/usr/bin/tar' can never match: the value stands alone, without a word before it "
     "| write exe = \"/usr/bin/tar\""},
    {"name = \"pid:123\"",
     "warning: 'pid:123' may not match what it was meant for: the value stands alone, without a "
     "word before it | rules match by name, unit, cgroup ...; use rdtctl assign for a PID"},
    {"name = \"comm=mysqld\"",
     "warning: 'comm=mysqld' may not match what it was meant for: the value stands alone, without "
     "a word before it | write \"mysqld\""},
    {"unit = \"slice:batch\"",
     "warning: 'slice:batch' may not match what it was meant for: the value stands alone, without "
     "a word before it | write \"batch.slice\""},
    {"unit = \"unit:nginx.service\"",
     "warning: 'unit:nginx.service' may not match what it was meant for: the value stands alone, "
     "without a word before it | write \"nginx.service\""},
    {"user = \"user:root\"",
     "error: 'user:root' can never match: the value stands alone, without a word before it | write "
     "\"root\""},
    {"user = \"uid 0\"",
     "error: 'uid 0' can never match: the value stands alone, without a word before it | write "
     "\"0\""},
    {"user_group = \"gid=100\"",
     "error: 'gid=100' can never match: the value stands alone, without a word before it | write "
     "\"100\""},
    {"user = \":wheel\"",
     "error: ':wheel' can never match: the name of a user has no ':' | write user_group = "
     "\"wheel\""},
    {"user = \"^root$\"",
     "error: '^root$' can never match: 'user' takes names and numbers, not patterns | write "
     "\"root\""},
    {"user = \"/root\"", "error: '/root' can never match: the name of a user has no '/'"},
    {"user = \"user-1000.slice\"",
     "error: 'user-1000.slice' can never match: it is a unit of systemd | write unit = "
     "\"user-1000.slice\""},
    {"user = \"all\"",
     "warning: 'all' is one user of that name | name = \"*\" holds for every process"},
    {"name = \"regex:^redis\"",
     "warning: 'regex:^redis' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"redis*\""},
    {"name = \"~mysql\"",
     "warning: '~mysql' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"mysql\""},
    {"unit = \"~mysqld.service\"",
     "error: '~mysqld.service' can never match: it is a glob, not a regular expression | write "
     "\"mysqld.service\""},
    {"name = \"worker-\\\\d+\"",
     "warning: 'worker-\\d+' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"worker-[0-9]*\""},
    {"name = \"worker-[0-9]+\"",
     "warning: 'worker-[0-9]+' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"worker-[0-9]*\""},
    {"name = \"(?i)mysqld\"",
     "warning: '(?i)mysqld' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"mysqld\""},
    {"name = \"mysqld.+\"",
     "warning: 'mysqld.+' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"mysqld?*\""},
    {"cmdline = \"java.+Kafka*\"",
     "warning: 'java.+Kafka*' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"java?*Kafka*\""},
    {"name = \"mysqld or mariadbd\"",
     "error: 'mysqld or mariadbd' can never match: one pattern is one glob, and an array holds "
     "several | write [\"mysqld\", \"mariadbd\"]"},
    {"name = \"tar && gzip\"",
     "warning: 'tar && gzip' may not match what it was meant for: one pattern is one glob, and an "
     "array holds several | write [\"tar\", \"gzip\"]"},
    {"pod = \"web&&db\"",
     "error: 'web&&db' can never match: one pattern is one glob, and an array holds several | "
     "write [\"*/web\", \"*/db\"]"},
    {"user = \"uid:*\"",
     "error: 'uid:*' can never match: the value stands alone, without a word before it | name = "
     "\"*\" holds for every process"},
    {"exe = \"path:tar\"",
     "error: 'path:tar' can never match: the value stands alone, without a word before it | write "
     "name = \"tar\""},
    {"cgroup = \"-.slice\"",
     "error: '-.slice' can never match: the root slice has no cgroup, and holds every process | "
     "name = \"*\" holds for every process"},
    // Virtual machines, Java's threads, machines of Windows domains and containers have such names.
    {"vm = \"R & D\"",
     "warning: 'R & D' may not match what it was meant for: one pattern is one glob, and an array "
     "holds several | write [\"R\", \"D\"]"},
    {"vm = \"re:zero\"",
     "warning: 're:zero' may not match what it was meant for: it is a glob, not a regular "
     "expression | write \"zero\""},
    {"name = \"~\"", ""},
    {"thread = \"com.foo..$Task\"",
     "warning: 'com.foo..$Task' may not match what it was meant for: rules have no variables | "
     "write \"com.foo..*\""},
    {"name = \"$TOOL\"",
     "error: '$TOOL' can never match: rules have no variables | write the text itself"},
    {"cgroup = \"/batch/tasks\"", ""},
    {"cgroup = \"/lxc.payload.build.target\"", ""},
    {"cgroup = \"name=systemd:/system.slice/x.service\"",
     "error: 'name=systemd:/system.slice/x.service' can never match: the path of a cgroup begins "
     "at "
     "the root of its hierarchy | write \"/system.slice/x.service\""},
    {"cgroup = \"/user.slice/user-1.slice/user@1.service/background-x.slice\"",
     "warning: '/user.slice/user-1.slice/user@1.service/background-x.slice' may not match: systemd "
     "puts background-x.slice into background.slice | write "
     "\"/user.slice/user-1.slice/user@1.service/background.slice/background-x.slice\""},
    {"user_unit = \"user-libpod_pod_*.slice\"", ""},
    {"user = \"bob or alice\"",
     "warning: 'bob or alice' is one name with a blank in it | write user = [\"bob\", \"alice\"]"},
    {"pod = \"a/b/\"",
     "error: 'a/b/' can never match: a pod is NAMESPACE/NAME, with one '/' | write \"a/b\""},
    {"exe = \"/scratch/WRF/run/wrf.exe\"", ""},
    {"name = \"tar or gzip\"",
     "warning: 'tar or gzip' may not match what it was meant for: one pattern is one glob, and an "
     "array holds several | write [\"tar\", \"gzip\"]"},
    {"unit = \"nginx or redis\"",
     "error: 'nginx or redis' can never match: one pattern is one glob, and an array holds several "
     "| write [\"nginx\", \"redis\"]"},
    {"name = \"mysqld,\"",
     "warning: 'mysqld,' may not match what it was meant for: the ',' at its end is a part of it | "
     "write \"mysqld\""},
    {"exe = \"/usr/bin/tar;\"",
     "warning: '/usr/bin/tar;' may not match what it was meant for: the ';' at its end is a part "
     "of it | write \"/usr/bin/tar\""},
    {"exe = \"/usr/bin/tar:/usr/bin/gzip\"",
     "error: '/usr/bin/tar:/usr/bin/gzip' can never match: one pattern is one glob, and an array "
     "holds several | write [\"/usr/bin/tar\", \"/usr/bin/gzip\"]"},
    {"cgroup = \"/a /b\"",
     "error: '/a /b' can never match: one pattern is one glob, and an array holds several | write "
     "[\"/a\", \"/b\"]"},
    {"exe = \"/usr/bin\"",
     "error: '/usr/bin' can never match: it is the path of a directory | write \"/usr/bin/*\", or "
     "\"/usr/bin/**\" for all directories below"},
    {"exe = \"=/usr/bin/tar\"",
     "error: '=/usr/bin/tar' can never match: an executable's path begins with '/' | write "
     "\"/usr/bin/tar\""},
    {"exe = \"~/bin/backup\"",
     "error: '~/bin/backup' can never match: an executable's path begins with '/' | write "
     "\"/home/*/bin/backup\""},
    {"exe = \"*java\"",
     "error: '*java' can never match: an executable's path begins with '/' | write \"**/*java\""},
    {"exe = \"*\"",
     "error: '*' can never match: an executable's path begins with '/' | write \"**\""},
    {"exe = \"/usr/bin/tar /usr/bin/gzip\"",
     "warning: '/usr/bin/tar /usr/bin/gzip' looks like a command with arguments; 'exe' matches the "
     "path of the executable | 'cmdline' matches the arguments"},
    {"exe = \"/opt/x/app.js\"",
     "warning: '/opt/x/app.js' may not match: the executable of a script is its interpreter | "
     "'name' or 'cmdline' matches a script"},
    {"exe = \"/etc/init.d/mysql\"",
     "warning: '/etc/init.d/mysql' may not match: the executable of a script is its interpreter | "
     "'name' or 'cmdline' matches a script"},
    {"exe = \"/home/u/.wine/drive_c/Game.exe\"",
     "warning: '/home/u/.wine/drive_c/Game.exe' may not match: if it is a Windows program, its "
     "executable is Wine's | 'name' or 'cmdline' matches the program"},
    {"cmdline = \"backup.sh\"",
     "warning: 'backup.sh' may not match: the command line of a script begins with its interpreter "
     "| write \"*backup.sh*\""},
    {"cmdline = \"/opt/backup.sh*\"",
     "warning: '/opt/backup.sh*' may not match: the command line of a script begins with its "
     "interpreter | write \"*/opt/backup.sh*\""},
    {"cmdline = \"kafka.Kafka\"",
     "warning: 'kafka.Kafka' is a whole command line, without any argument | write "
     "\"*kafka.Kafka*\", or name = \"kafka.Kafka\""},
    {"cmdline = \"'*java*'\"", "warning: '*java*' has quotes within its quotes | write \"*java*\""},
    {"name = \"postgres: *\"",
     "warning: 'postgres: *' is a title in the command line; the name of such a process is "
     "'postgres' | write \"postgres\", or cmdline = \"postgres: *\""},
    {"name = \"nginx: worker\"",
     "warning: 'nginx: worker' is a title in the command line; the name of such a process is "
     "'nginx' | write \"nginx\", or cmdline = \"nginx: worker*\""},
    {"name = \"tmux: server\"", ""},
    {"thread = \"CPU 0/KVM\"", ""},
    {"name = \"CPU 0/KVM\"",
     "warning: 'CPU 0/KVM' looks like a thread of QEMU; 'name' is the name of a process | write "
     "thread = \"CPU 0/KVM\""},
    {"name = \"/usr/bin/python3 /opt/x.py\"",
     "error: '/usr/bin/python3 /opt/x.py' can never match: the name of a process has no directory "
     "| write cmdline = \"*/usr/bin/python3 /opt/x.py*\""},
    {"name = \"[mysqld]\"",
     "warning: '[mysqld]' is one of the characters in the brackets; ps has a kernel thread in "
     "brackets | write \"mysqld\""},
    {"cgroup = \"sys/fs/cgroup/x\"",
     "error: 'sys/fs/cgroup/x' can never match: a cgroup path begins with '/' | write \"/x\""},
    {"cgroup = \"/sys/fs/cgroup/cpuset/batch\"",
     "error: '/sys/fs/cgroup/cpuset/batch' can never match: the path of a cgroup begins at the "
     "root of its hierarchy | write \"/batch\""},
    {"cgroup = \"nginx.service\"",
     "error: 'nginx.service' can never match: a cgroup path begins with '/' | write unit = "
     "\"nginx.service\""},
    {"cgroup = \"batch-night.slice\"",
     "error: 'batch-night.slice' can never match: a cgroup path begins with '/' | write "
     "\"/batch.slice/batch-night.slice\""},
    {"cgroup = \".*docker.*\"",
     "error: '.*docker.*' can never match: a cgroup path begins with '/' | write \"**/*docker*\""},
    {"cgroup = \"*docker*\"",
     "error: '*docker*' can never match: a cgroup path begins with '/' | write \"**/*docker*\""},
    {"cgroup = \"/kubepods-besteffort.slice\"",
     "warning: '/kubepods-besteffort.slice' may not match: systemd puts kubepods-besteffort.slice "
     "into kubepods.slice | write \"/kubepods.slice/kubepods-besteffort.slice\""},
    {"cgroup = \"/user-1000.slice/session-3.scope\"",
     "warning: '/user-1000.slice/session-3.scope' may not match: systemd puts user-1000.slice into "
     "user.slice | write \"/user.slice/user-1000.slice/session-3.scope\""},
    {"cgroup = \"/docker/0123/kubepods-burstable.slice\"",
     "warning: '/docker/0123/kubepods-burstable.slice' may not match: systemd puts "
     "kubepods-burstable.slice into kubepods.slice | write "
     "\"/docker/0123/kubepods.slice/kubepods-burstable.slice\""},
    {"cgroup = \"/docker/0123/kubepods.slice/kubepods-burstable.slice\"", ""},
    {"cgroup = \"**/kubepods-burstable.slice\"", ""},
    {"cgroup = \"/mysql.service\"",
     "warning: '/mysql.service' may not match: systemd puts mysql.service into a slice | write "
     "unit = \"mysql.service\""},
    {"cgroup = \"/init.scope\"", ""},
    {"cgroup = \"/system.slice/postgresql@15-main.service\"",
     "warning: '/system.slice/postgresql@15-main.service' may not match: systemd puts "
     "postgresql@15-main.service into a slice of its template | write unit = "
     "\"postgresql@15-main.service\""},
    {"cgroup = \"/system.slice/system-postgresql.slice/postgresql@15-main.service\"", ""},
    {"cgroup = \"/system.slice/foo@.service\"",
     "error: '/system.slice/foo@.service' can never match: a template has no processes, only its "
     "instances have | write unit = \"foo@*.service\""},
    {"cgroup = \"/system.slice/backup.timer\"",
     "error: '/system.slice/backup.timer' can never match: no process is in a timer | write unit = "
     "\"backup.service\""},
    {"cgroup = \"/system.slice/mysql\"",
     "warning: '/system.slice/mysql' may not match: what systemd has in a slice ends in .service, "
     ".scope or .slice | write \"/system.slice/mysql.service\""},
    {"cgroup = \"/system.slice/mysql*\"", ""},
    {"cgroup = \"/kubepods.slice/kubepods-besteffort\"",
     "warning: '/kubepods.slice/kubepods-besteffort' may not match: what systemd has in a slice "
     "ends in .service, .scope or .slice | write \"/kubepods.slice/kubepods-besteffort.slice\""},
    {"cgroup = \"/kubepods.slice/burstable\"",
     "warning: '/kubepods.slice/burstable' may not match: what systemd has in a slice ends in "
     ".service, .scope or .slice | write unit = \"kubepods-burstable.slice\""},
    {"cgroup = \"/kubepods.slice/kubepods-guaranteed.slice\"",
     "warning: '/kubepods.slice/kubepods-guaranteed.slice' holds nothing: guaranteed pods lie "
     "directly below kubepods.slice | write \"/kubepods.slice\", after rules for burstable and "
     "besteffort"},
    {"cgroup = \"/user.slice/1000\"",
     "warning: '/user.slice/1000' may not match: what systemd has in a slice ends in .service, "
     ".scope or .slice | write \"/user.slice/user-1000.slice\""},
    {"cgroup = \"/qemu.slice/100\"",
     "warning: '/qemu.slice/100' may not match: what systemd has in a slice ends in .service, "
     ".scope or .slice | write vm = \"100\""},
    {"cgroup = \"/system.slice/nginx.service/cgroup.procs\"",
     "error: '/system.slice/nginx.service/cgroup.procs' can never match: it is a file of a cgroup "
     "| write \"/system.slice/nginx.service\""},
    {"unit = \"mysql.svc\"",
     "warning: 'mysql.svc' is the service 'mysql.svc.service' | write \"mysql.service\""},
    {"unit = \"mysqld.service.d\"",
     "warning: 'mysqld.service.d' looks like the directory of a unit's drop-ins | write "
     "\"mysqld.service\""},
    {"unit = \"docker\"",
     "warning: 'docker' is the service 'docker.service', and not the containers that it starts | "
     "write container = \"NAME\"; for the service itself, \"docker.service\""},
    {"unit = \"docker.service\"", ""},
    {"unit = \"libvirtd\"",
     "warning: 'libvirtd' is the service 'libvirtd.service', and not the virtual machines that it "
     "starts | write vm = \"NAME\"; for the service itself, \"libvirtd.service\""},
    {"unit = \"slurmd\"",
     "warning: 'slurmd' is the service 'slurmd.service', and not the jobs that it starts | write "
     "unit = \"*slurmstepd.scope\"; for the service itself, \"slurmd.service\""},
    {"unit = \"app-firefox-123.scope\"",
     "warning: 'app-firefox-123.scope' is most often a unit of a user's own service manager; "
     "'unit' "
     "is one of the system's | if it is the user's, write user_unit = \"app-firefox-123.scope\""},
    {"unit = \"app.slice\"",
     "warning: 'app.slice' is most often a unit of a user's own service manager; 'unit' is one of "
     "the system's | if it is the user's, write user_unit = \"app.slice\""},
    {"user_unit = \"app.slice\"", ""},
    {"unit = \"kubepods-guaranteed.slice\"",
     "warning: 'kubepods-guaranteed.slice' holds nothing: guaranteed pods lie directly below "
     "kubepods.slice | write unit = \"kubepods.slice\", after rules for burstable and besteffort"},
    {"unit = \"kubepods-burstable-pod8f2c1d3e-0000-4abc-9def-0123456789ab.slice\"",
     "warning: 'kubepods-burstable-pod8f2c1d3e-0000-4abc-9def-0123456789ab.slice' may not match: "
     "where systemd makes the slice of a pod, its UID has '_' instead of '-' | write "
     "\"kubepods-burstable-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice\""},
    {"cgroup = "
     "\"/kubepods.slice/kubepods-pod8f2c1d3e-0000-4abc-9def-0123456789ab.slice/*\"",
     "warning: '/kubepods.slice/kubepods-pod8f2c1d3e-0000-4abc-9def-0123456789ab...' may not "
     "match: where systemd makes the slice of a pod, its UID has '_' instead of '-' | write "
     "\"/kubepods.slice/kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice/*\""},
    {"cgroup = \"/kubepods.slice/kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice\"", ""},
    {"unit = \"kubepods-guaranteed-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice\"",
     "warning: 'kubepods-guaranteed-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slic...' holds "
     "nothing: "
     "guaranteed pods lie directly below kubepods.slice | write "
     "\"kubepods-pod8f2c1d3e_0000_4abc_9def_0123456789ab.slice\""},
    {"unit = \"docker-redis.scope\"",
     "warning: 'docker-redis.scope' may not match: a container's scope has its whole ID | write "
     "container = \"redis\""},
    {"cgroup = \"/system.slice/docker-8f2c1d3e0000.scope\"",
     "warning: '/system.slice/docker-8f2c1d3e0000.scope' may not match: a container's scope has "
     "its whole ID | write \"/system.slice/docker-8f2c1d3e0000*.scope\""},
    {"unit = \"docker-*.scope\"", ""},
    {"unit = \"user-alice.slice\"",
     "warning: 'user-alice.slice' may not match: systemd has the number of the user there | write "
     "user = \"alice\", or the number that 'id -u alice' shows"},
    {"cgroup = \"/user.slice/user-alice.slice\"",
     "warning: '/user.slice/user-alice.slice' may not match: systemd has the number of the user "
     "there | write user = \"alice\", or the number that 'id -u alice' shows"},
    {"unit = \"user@alice.service\"",
     "warning: 'user@alice.service' may not match: systemd has the number of the user there | "
     "write user = \"alice\", or the number that 'id -u alice' shows"},
    {"unit = \"user-1000.slice\"", ""},
    {"user_unit = \"user-libpod_pod_8f2c1d3e.slice\"", ""},
    {"cgroup = \"/user.slice/user@1000.service\"",
     "warning: '/user.slice/user@1000.service' may not match: systemd puts user@1000.service into "
     "a slice of its user | write unit = \"user@1000.service\""},
    {"user_unit = \"user.slice\"",
     "error: 'user.slice' can never match: user_unit names a unit of a user's own service manager "
     "| write unit = \"user.slice\""},
    {"pod = \"shop/Redis_0\"",
     "error: 'shop/Redis_0' can never match: Kubernetes' names have no capital letters and no '_' "
     "| write \"shop/redis-0\""},
    {"pod = \"pod/web\"",
     "warning: 'pod/web' is a pod in the namespace 'pod'; a pod is NAMESPACE/NAME | write "
     "\"*/web\""},
    {"pod = \"deployment/web\"",
     "warning: 'deployment/web' is a pod in the namespace 'deployment'; a pod is NAMESPACE/NAME | "
     "write \"*/web-*\""},
    {"pod = \"statefulset/redis\"",
     "warning: 'statefulset/redis' is a pod in the namespace 'statefulset'; a pod is "
     "NAMESPACE/NAME | write \"*/redis-*\""},
    {"pod = \"sts/redis-0\"",
     "warning: 'sts/redis-0' is a pod in the namespace 'sts'; a pod is NAMESPACE/NAME | write "
     "\"*/redis-0\""},
    {"pod = \"shop_web-0_8f2c1d3e-0000-4abc-9def-0123456789ab\"",
     "error: 'shop_web-0_8f2c1d3e-0000-4abc-9def-0123456789ab' can never match: it is a directory "
     "of /var/log/pods; a pod is NAMESPACE/NAME | write \"shop/web-0\""},
    {"container = \"k8s_nginx_web-0_shop_8f2c1d3e-0000-4abc-9def-0123456789ab_0\"",
     "warning: 'k8s_nginx_web-0_shop_8f2c1d3e-0000-4abc-9def-0123456789ab_0' is the kubelet's name "
     "for the runtime; 'container' is the one of the pod | write container = \"nginx\" and pod = "
     "\"shop/web-0\""},
    {"name = \"path:tar\"",
     "warning: 'path:tar' may not match what it was meant for: the value stands alone, without a "
     "word before it | write \"tar\""},
    {"name = \"cmdline:run\"",
     "warning: 'cmdline:run' may not match what it was meant for: the value stands alone, without "
     "a word before it | write cmdline = \"*run*\""},
    {"name = \"pod:web\"",
     "warning: 'pod:web' may not match what it was meant for: the value stands alone, without a "
     "word before it | write pod = \"*/web\""},
    {"name = \"cgroup:batch\"",
     "warning: 'cgroup:batch' may not match what it was meant for: the value stands alone, without "
     "a word before it | write cgroup = \"/batch\""},
    {"cgroup = \"/-.slice/system.slice\"",
     "error: '/-.slice/system.slice' can never match: the root slice has no cgroup of its own | "
     "leave its component out"},
    {"name = \"CPU *\"",
     "warning: 'CPU *' looks like a thread of QEMU; 'name' is the name of a process | write thread "
     "= \"CPU *\""},
};

TEST(PolicyBorrowedConditions, Findings) { expect_findings(conditions); }

}  // namespace
}  // namespace rdtd::policy_borrowed_conditions
