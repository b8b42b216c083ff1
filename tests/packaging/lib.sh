# What the tests of the packages share: rows, and a copy of a chroot that dev/package made, to
# install in.
# shellcheck shell=bash disable=SC2034  # $project is for those that read this
set -euo pipefail
project=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
cache=${RDTD_VM_CACHE:-/var/cache/rdtd-vm}
work=$(mktemp -d)
copy=""
trap 'rm -rf "$work"; [[ -z $copy ]] || rm -rf "$copy"' EXIT
passed=0 failed=0

die() { echo "${0##*/}: $2" >&2; exit "$1"; }

# row WHAT COMMAND...: passes where the command succeeds; what it said is shown where it does not,
# and is in $work/said for the next row.
row() {
  local what=$1 status=0
  shift
  "$@" >"$work/saying" 2>&1 || status=$?
  mv "$work/saying" "$work/said"
  if [[ $status -eq 0 ]]; then
    passed=$((passed + 1))
    echo "ok    $what"
  else
    failed=$((failed + 1))
    echo "FAIL  $what"
    sed 's/^/      /' "$work/said"
  fi
}

same() { diff <(printf '%s\n' "$1") <(printf '%s\n' "$2"); }  # same FOUND EXPECTED

summary() { echo "$passed passed, $failed failed"; [[ $failed -eq 0 ]]; }

# A copy of the chroot in which nothing runs: systemctl, deb-systemd-invoke and rdtctl write down
# how they are called, in /calls, and rdtctl fails while there is a file /reset-fails. systemctl
# --root, which only makes links, is the real one.
copy_chroot() {  # copy_chroot NAME
  [[ -d $cache/package-$1 ]] || die 69 "no chroot $cache/package-$1: run dev/package first"
  [[ -z $copy ]] || rm -rf "$copy"
  copy=$(mktemp -d "$cache/copy-XXXXXX")
  cp -a "$cache/package-$1/." "$copy/"
  mkdir -p "$copy/run/systemd/system" "$copy/usr/local/sbin" "$copy/packages"
  : >"$copy/calls"
  local program
  for program in systemctl deb-systemd-invoke rdtctl; do
    printf '#!/bin/sh\necho "%s $*" >>/calls\n' "$program" >"$copy/usr/local/sbin/$program"
    chmod 755 "$copy/usr/local/sbin/$program"
  done
  # shellcheck disable=SC2016  # for the shell in the copy
  sed -i '2i case $1 in --root=*) exec /usr/bin/systemctl "$@" ;; esac' "$copy/usr/local/sbin/systemctl"
  echo '[ ! -e /reset-fails ]' >>"$copy/usr/local/sbin/rdtctl"
}

within() { chroot "$copy" env -i PATH=/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# The calls since the last time, without the reloads of the manager.
calls() { grep -v daemon-reload "$copy/calls" || true; : >"$copy/calls"; }

# All that is in the copy, but the books of dpkg, rpm and systemd, caches, logs, and what
# copy_chroot made.
everything() {  # everything [TEST OF find...]
  (cd "$copy" && find . -xdev \( -path ./var/lib/dpkg -o -path ./var/lib/rpm -o -path ./usr/lib/sysimage -o -path ./root -o -path ./var/log -o -path ./var/cache \
    -o -path ./run/systemd -o -path ./packages -o -path ./calls -o -path ./reset-fails -o -path ./tmp \) -prune -o "$@" -print | sort)
}
