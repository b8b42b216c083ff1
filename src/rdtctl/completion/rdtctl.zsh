#compdef rdtctl
# Completion of rdtctl for zsh: verbs and options with what they do, groups, units, processes and files, as rdtctl lists them.
# The verbs, or for 1 the options of a verb and of rdtctl itself: "NAME:DESCRIPTION" from the help.
_rdtctl_described() {
  { [[ -z $2 ]] || rdtctl $2 --help; rdtctl --help; } 2>/dev/null | awk -v option=$1 '
    function give(  i, n, names) {
      n = split(head, names, /,? +/)
      for (i = 1; i <= n; i++)
        if ((option ? names[i] ~ /^-/ : i == 1 && names[i] ~ /^[a-z]/) && !given[names[i]]++)
          print names[i] ":" text
      head = ""
    }
    /^  [-a-z]/ {
      give(); head = substr($0, 3); text = ""
      if (match(head, /  +/)) { text = substr(head, RSTART + RLENGTH); head = substr(head, 1, RSTART - 1) }
      next
    }
    head != "" && /^      / { sub(/^ +/, ""); text = text (text == "" ? "" : " ") $0; next }
    { give() }
    END { give() }'
}
_rdtctl() {
  local verb= i
  local -i first=0
  local -a found
  # The verb, and the first word after it that is neither an option nor an option's value.
  for ((i = 2; i < CURRENT; i++)); do
    case ${words[i]} in
      @RDTCTL_VALUE_PATTERN@) ((i++)) ;;
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
  # "--sort=VALUE" is one word.
  local option=${words[CURRENT-1]}
  if [[ ${words[CURRENT]} == --*=* ]]; then
    option=${words[CURRENT]%%=*}
    compset -P '*='
  fi
  case $option in
    -g | --group | --noise-group) found=(${(f)"$(rdtctl list --names 2>/dev/null)"}); compadd -a found; return ;;
    --pseudo-lock) found=(${(f)"$(ls /dev/pseudo_lock 2>/dev/null)"}); compadd -a found; return ;;
    --unit | --protect) found=(${(f)"$(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --user-unit) found=(${(f)"$(systemctl --user list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --user) _users; return ;;
    --user-group) _groups; return ;;
    --pid) _pids; return ;;
    --sort) compadd group domain tasks occupancy total local; return ;;
    --color) compadd always auto never; return ;;
    --json) compadd pretty short off; return ;;
    --root | --resctrl) _files -/; return ;;
    --output | --from | --exe | --html | --play) _files; return ;;
    --mb) [[ $verb == suggest ]] || return ;;
    -d | --interval | --duration | -n | --wait | -c | -S | --since | -U | --until | --l2 | --l3 | --smba | --ways | --for | --repeats | --noise-cmd | --cpus | --max-loss | --rounds | --metric | --seconds | --name | --thread | --cmdline | --cgroup | --pod | --container) return ;;
    --noise) compadd stream; return ;;
    --probe) compadd latency timer; return ;;
  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    found=(${(fu)"$(_rdtctl_described 1 $verb)"})
    _describe -t options option found
  elif [[ -z $verb ]]; then
    found=(${(f)"$(_rdtctl_described 0)"})
    _describe -t verbs verb found
  else
    case $verb in
      show | adopt) found=(${(f)"$(rdtctl list --names 2>/dev/null)"}); compadd -a found ;;
      help) found=(${(f)"$(_rdtctl_described 0)"}); _describe -t verbs verb found ;;
      explain | assign) _pids ;;
      completion) compadd bash zsh fish ;;
      check | plan) _files -g '*.toml' ;;
      history | blame | record | import) _files ;;
      edit) _files -W /etc/rdtd -g '*.toml' ;;
      snapshot) _files -/ ;;
      run | bench | suggest) _command_names -e ;;
    esac
  fi
}
_rdtctl "$@"
