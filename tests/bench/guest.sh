#!/bin/bash
# In the guest: rdtd, rdtd beside rdtd-observer, and the bare listener in turn, block by block, in one
# run. Prints a table.
# shellcheck source=../vm/guest/lib.sh
source /opt/rdtd-tests/lib.sh
bench=/opt/rdtd-tests/rdtd-bench
blocks=10 each=40 burst=${BENCH_BURST:-5000}
mkdir -p /etc/rdtd
ln -sf "$bench" /tmp/bench-child

policy_of() {  # policy_of RULES: only the last one matches
  printf '[daemon]\nreconcile_interval = "0"\n[group.bench]\nl3 = "4 ways"\n'
  awk -v n="$1" 'BEGIN {for (i = 1; i < n; i++) printf "[[rule]]\ngroup = \"bench\"\nname = \"other-%d\"\n", i}'
  printf '[[rule]]\ngroup = "bench"\nname = "bench-child"\n'
}
# Of the thread that hears the events: rdtd's first one, its classifier; the listener's only one.
cpu_usec() { echo $(($(cut -d' ' -f1 "/proc/$1/task/$1/schedstat") / 1000)); }
rss_kib() { awk '/^VmRSS/ {print $2}' "/proc/$1/status"; }
summary() { sort -n "$1" | awk '{v[NR] = $1; late += $1 < 0} END {printf "%9.0f %9.0f %6d", v[int(NR * 0.5) + 1], v[int(NR * 0.99)], late}'; }
# The stopped one has all the events of the other's turn to catch up on before its own begins.
turn() { kill -STOP "$2"; kill -CONT "$1"; sleep "$3"; }
# take WHO SECONDS: its turn; leaves the process that hears the events in $me.
take() {
  local other=$bare
  me=$rdtd
  if [[ $1 == bare ]]; then me=$bare other=$rdtd; fi
  if [[ $1 == observed ]]; then kill -CONT "$observer"; else kill -STOP "$observer"; fi
  turn "$me" "$other" "$2"
}

# A daemon that is stopped for the other's turn answers no watchdog, and a reconcile has no part in
# what is measured.
mkdir -p /etc/systemd/system/rdtd.service.d
mkdir -p /etc/systemd/system/rdtd-observer.service.d
for unit in rdtd rdtd-observer; do printf '[Service]\nWatchdogSec=0\n' >/etc/systemd/system/$unit.service.d/bench.conf; done
systemctl daemon-reload
systemd-sysusers rdtd.conf

printf '%-6s %7s %-8s %9s %9s %6s %12s %9s\n' load rules who "p50 us" "p99 us" late "CPU us/exec" "RSS KiB"
for rules in 10 10000; do
  policy_of $rules >/etc/rdtd/10-bench.toml
  systemctl restart rdtd.service || exit 1
  systemctl start rdtd-observer.service || exit 1
  rdtd=$(systemctl show -P MainPID rdtd) observer=$(systemctl show -P MainPID rdtd-observer)
  chrt -f 1 "$bench" listen "$resctrl/bench/tasks" >/dev/null & bare=$!
  sleep 1
  rm -f /tmp/*.latency
  declare -A cpu=([rdtd]=0 [observed]=0 [bare]=0)
  for ((block = 0; block < blocks; block++)); do
    for who in rdtd observed bare; do
      take $who 0.5
      before=$(cpu_usec $me)
      "$bench" steady /tmp/bench-child $each bench >>/tmp/steady-$who.latency
      cpu[$who]=$((cpu[$who] + $(cpu_usec $me) - before))
    done
  done
  for who in rdtd observed bare; do
    if [[ $who == bare ]]; then me=$bare; else me=$rdtd; fi
    printf '%-6s %7d %-8s %s %12d %9d\n' steady $rules $who "$(summary /tmp/steady-$who.latency)" $((cpu[$who] / (blocks * each))) "$(rss_kib $me)"
  done
  for who in rdtd observed bare; do
    take $who 3
    before=$(cpu_usec $me)
    "$bench" burst /tmp/bench-child "$burst" bench >/tmp/burst-$who.latency
    printf '%-6s %7d %-8s %s %12d %9d\n' burst $rules $who "$(summary /tmp/burst-$who.latency)" $((($(cpu_usec $me) - before) / burst)) "$(rss_kib $me)"
  done
  kill -CONT "$rdtd" "$observer"; kill -9 "$bare"; wait "$bare" 2>/dev/null
  systemctl stop rdtd-observer.service
done

echo
echo "system calls of the classifier thread per exec, 200 execs:"
systemctl restart rdtd.service
thread=$(systemctl show -P MainPID rdtd)
ln -sf "$bench" /tmp/unmatched
for link in /tmp/unmatched /tmp/bench-child; do
  strace -qq -c -o /tmp/calls -p "$thread" & tracer=$!
  sleep 2
  for ((i = 0; i < 200; i++)); do "$link" 2>/dev/null; done
  sleep 1; kill -INT $tracer; wait $tracer
  echo "$(basename $link): $(awk '$4 ~ /^[0-9]+$/ && $NF != "total" {printf "%s %.2f  ", $NF, $4 / 200}' /tmp/calls)"
done
