# What the scenarios are written with. A check that fails is told with what was expected and found;
# the scenario goes on and fails at its end.
# shellcheck shell=bash
failures=0
resctrl=/sys/fs/resctrl
lab=/opt/rdtd-tests/lab

fail() { echo "    FAILED: $*"; failures=$((failures + 1)); }
note() { echo "    $*"; }

# is WHAT FOUND EXPECTED
is() { [[ $2 == "$3" ]] || fail "$1: found '$2', expected '$3'"; }
# matches WHAT FOUND REGEX
matches() { [[ $2 =~ $3 ]] || fail "$1: found '$2', expected something like '$3'"; }
# holds WHAT COMMAND...: now
holds() { local what=$1; shift; "$@" || fail "$what"; }
# soon WHAT COMMAND...: within 20 s, since an emulated machine on a busy host is slow
soon() {
  local what=$1 end=$((SECONDS + 21))
  shift
  until "$@"; do [[ $SECONDS -lt $end ]] || { fail "$what, within 20 s"; return; }; sleep 0.1; done
}

policy() { mkdir -p /etc/rdtd; cat >"/etc/rdtd/$1.toml"; }  # policy NAME <<END
# unit_fails VERB
unit_fails() { fail "rdtd does not $1"; journalctl -u rdtd -n 15 --no-pager -o cat; }
start_rdtd() { systemctl start rdtd.service || unit_fails start; }
reload_unit() { systemctl reload rdtd.service || unit_fails reload; }
# What the unit runs. It asks udev too, which takes seconds here.
reload_rdtd() { if [[ $RELEASE == yes ]]; then reload_unit; else rdtctl reload || unit_fails reload; fi; }
# mount_with OPTION,...: how systemd mounts resctrl from now on, in this scenario; rdtd must be
# started after it.
mount_with() {
  systemctl stop rdtd.service sys-fs-resctrl.mount
  mkdir -p /etc/systemd/system/sys-fs-resctrl.mount.d
  printf '[Mount]\nOptions=%s\n' "$1" >/etc/systemd/system/sys-fs-resctrl.mount.d/scenario.conf
  systemctl daemon-reload
}
# add_user NAME ID: with a group of its own; the smallest guest has no useradd. Scenarios share a
# machine, so no two of them give one number to users of different names: polkit would take the one
# for the other.
add_user() {
  local other
  grep -q "^$1:x:$2:" /etc/passwd && return
  other=$(awk -F: -v name="$1" -v id="$2" '$1 == name || $3 == id { print $1 " " $3 }' /etc/passwd)
  [[ -z $other ]] || { fail "add_user $1 $2: there is $other"; return; }
  echo "$1:x:$2:$2::/:/bin/sh" >>/etc/passwd; echo "$1:x:$2:" >>/etc/group
}
group_id() { awk -F: -v name="$1" '$1 == name { print $3 }' /etc/group; }
# Of the result of `rdtctl bench -j` in /tmp/bench.json: spoken, its sentence; value NAME CONDITION
# BASE, of the ratio of two conditions, whose names are regular expressions without blanks.
spoken() { sed -n 's/.*"sentence": *"\([^"]*\)".*/\1/p' /tmp/bench.json; }
value() {
  tr -d '\n ' </tmp/bench.json | grep -o "{\"condition\":\"$2\",\"base\":\"$3\"[^}]*}" | sed -n "s/.*\"$1\":\([^,}]*\).*/\1/p"
}
# is_true "A < B": of numbers with fractions
is_true() { awk "BEGIN {exit !($1)}"; }
property() { busctl get-property org.rdtd1 /org/rdtd1 org.rdtd1.Manager "$1" | cut -d' ' -f2-; }

# The group of a process, "" for the default one.
group_of() { sed -n 's,^res:/\?,,p' "/proc/$1/cpu_resctrl_groups" 2>/dev/null; }
in_group() { [[ -e /proc/$1 && $(group_of "$1") == "$2" ]]; }
# Every thread of a process is in the group.
all_in_group() { local t; for t in "/proc/$1/task"/*; do [[ $(group_of "${t#/proc/}") == "$2" ]] || return 1; done; }
# schemata GROUP RESOURCE: as the kernel has them, without padding.
schemata() { sed -n "s/^ *$2:\(.*\)/\1/p" "$resctrl/${1:+$1/}schemata" | sed 's/ //g; s/=0*\([0-9a-f]\)/=\1/g'; }

# The registers. register CPU INDEX; the CLOSID that runs on a CPU; the L3 mask and MBA delay that
# are in force there.
register() { "$lab" register "$1" "$2"; }
closid_on() { echo $((0x$(register "$1" 0xc8f) >> 32)); }
mask_in_force() { register "$1" $((0xc90 + $(closid_on "$1"))); }
mba_in_force() { register "$1" $((0xd50 + $(closid_on "$1"))); }
# A CPU runs other tasks too, each under its own CLOSID: ask these with soon, of a value that no
# other group has there.
mask_in_force_is() { [[ $(mask_in_force "$1") == "$2" ]]; }
mba_in_force_is() { [[ $(mba_in_force "$1") == "$2" ]]; }
# Whether a mask stands in any CLOSID's register on the CPU's socket.
some_mask_is() { local i; for i in {0..15}; do [[ $(register "$1" $((0xc90 + i))) == "$2" ]] && return; done; return 1; }
some_delay_is() { local i; for i in {0..7}; do [[ $(register "$1" $((0xd50 + i))) == "$2" ]] && return; done; return 1; }

# expect COMMAND OUTPUT: "..." stands for anything.
expect() {
  local found pattern
  found=$(eval "$1" 2>&1)
  pattern=$(sed 's/[][*?\\]/\\&/g; s/  */ /g; s/ *$//; s/\.\.\./*/g' <<<"$2")
  # shellcheck disable=SC2053  # a pattern
  [[ $(sed 's/  */ /g; s/ *$//' <<<"$found") == $pattern ]] || fail "$1: found"$'\n'"$found"$'\n'"expected"$'\n'"$2"
}
# run_document FILE: the commands of a document, in their order, with the files that it writes and
# the outputs that it shows. Leaves their number in $commands.
run_document() {
  local kind="" command="" expected="" file="" line
  commands=0
  while IFS= read -r line; do
    case $kind/$line in
      '/```console') kind=console ;;
      '/```toml '*) kind=toml file=${line#'```toml '}; : >"$file" ;;
      */'```'|console/'$ '*)
        [[ -z $command ]] || { expect "$command" "${expected%$'\n'}"; commands=$((commands + 1)); }
        command="" expected=""
        if [[ $line == '```' ]]; then kind=""; else command=${line#'$ '}; fi ;;
      console/*) expected+=$line$'\n' ;;
      toml/*) echo "$line" >>"$file" ;;
    esac
  done <"$1"
}
