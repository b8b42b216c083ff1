#compdef rdtctl
# Completion of rdtctl for zsh: verbs, options, groups, units, processes and files, as rdtctl lists them.
_rdtctl() {
  local verb= i
  local -i first=0
  local -a found
  # The verb, and the first word after it that is neither an option nor an option's value.
  for ((i = 2; i < CURRENT; i++)); do
    case ${words[i]} in
      -g | --group | --unit | --user-unit | --name | --thread | --exe | --cmdline | --cgroup | --pod | --container | --play | --user | --user-group | --pid | --sort | --json | --root | --resctrl | --output | -d | --interval | --l2 | --l3 | --smba | --ways | --for | --repeats | --noise | --noise-cmd | --noise-group | --pseudo-lock | --cpus | --max-loss | --rounds | --metric | --probe | --seconds | --html | --protect | -S | --since | -U | --until) ((i++)) ;;
      --mb) [[ $verb == suggest ]] || ((i++)) ;;  # a flag of suggest
      -*) ;;
      *) if [[ -z $verb ]]; then verb=${words[i]}; else first=$i; break; fi ;;
    esac
  done
  if [[ $verb == (run|bench|suggest) ]] && ((first > 0)); then
    words=("${(@)words[first,-1]}")
    ((CURRENT -= first - 1))
    _normal
    return
  fi
  case ${words[CURRENT-1]} in
    -g | --group | --noise-group) found=(${(f)"$(rdtctl list --names 2>/dev/null)"}); compadd -a found; return ;;
    --pseudo-lock) found=(${(f)"$(ls /dev/pseudo_lock 2>/dev/null)"}); compadd -a found; return ;;
    --unit | --protect) found=(${(f)"$(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --user-unit) found=(${(f)"$(systemctl --user list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --user) _users; return ;;
    --user-group) _groups; return ;;
    --pid) _pids; return ;;
    --sort) compadd group domain tasks occupancy total local; return ;;
    --json) compadd pretty short off; return ;;
    --root | --resctrl) _files -/; return ;;
    --output | --exe | --html | --play) _files; return ;;
    --mb) [[ $verb == suggest ]] || return ;;
    -d | --interval | --l2 | --l3 | --smba | --ways | --for | --repeats | --noise-cmd | --cpus | --max-loss | --rounds | --metric | --seconds | --name | --thread | --cmdline | --cgroup) return ;;
    --noise) compadd stream; return ;;
    --probe) compadd latency timer; return ;;
  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$({ rdtctl $verb --help; rdtctl --help; } 2>/dev/null | grep -E '^  -' | grep -oE -- '(^| )-(-[a-z0-9-]+|[a-z])\b' | tr -d ' ' | sort -u)"})
    compadd -a found
  elif [[ -z $verb ]]; then
    compadd @RDTCTL_VERBS@
  else
    case $verb in
      show | adopt) found=(${(f)"$(rdtctl list --names 2>/dev/null)"}); compadd -a found ;;
      help) compadd @RDTCTL_VERBS@ ;;
      explain | assign) _pids ;;
      completion) compadd bash zsh fish ;;
      check) _files -g '*.toml' ;;
      history | blame) _files ;;
      edit) _files -W /etc/rdtd -g '*.toml' ;;
      snapshot) _files -/ ;;
      run | bench | suggest) _command_names -e ;;
    esac
  fi
}
_rdtctl "$@"
