# Completion of rdtctl for bash: verbs, options, groups, units, processes and files, as rdtctl lists them.
_rdtctl() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} verb="" first=0 i
  # The verb, and the first word after it that is neither an option nor an option's value.
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      @RDTCTL_VALUE_PATTERN@) ((i++)) ;;
      --mb) [[ $verb == suggest ]] || ((i++)) ;;  # a flag of suggest
      -*) ;;
      *) if [[ -z $verb ]]; then verb=${COMP_WORDS[i]}; else first=$i; break; fi ;;
    esac
  done
  if [[ $verb == @(run|bench|suggest) && $first -gt 0 ]]; then
    if declare -F _command_offset >/dev/null; then _command_offset "$first"; else mapfile -t COMPREPLY < <(compgen -f -- "$current"); fi
    return
  fi
  # The lines of the input that begin with the current word. A group may have any name: compgen -W would expand it as a
  # shell does, and readline leaves '$' and '`' unquoted.
  _rdtctl_lines() {
    local line plain=${current//\\/} quoted
    compopt +o filenames 2>/dev/null
    [[ $current != [\"\']* ]] || return
    while IFS= read -r line; do
      [[ -n $line && $line == "$plain"* ]] || continue
      printf -v quoted %q "$line"
      COMPREPLY+=("$quoted")
    done
  }
  _rdtctl_words() { tr ' ' '\n' <<<"$1"; }
  COMPREPLY=()
  # Readline splits "--sort=VALUE" at the '='.
  if [[ $current == = ]]; then
    current=""
  elif [[ $previous == = && $COMP_CWORD -gt 2 ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case $previous in
    -g | --group | --noise-group) _rdtctl_lines < <(rdtctl list --names 2>/dev/null); return ;;
    --pseudo-lock) _rdtctl_lines < <(ls /dev/pseudo_lock 2>/dev/null); return ;;
    --unit | --protect) _rdtctl_lines < <(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1); return ;;
    --user-unit) _rdtctl_lines < <(systemctl --user list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1); return ;;
    --user) _rdtctl_lines < <(compgen -u); return ;;
    --user-group) _rdtctl_lines < <(compgen -g); return ;;
    --pid) _rdtctl_lines < <(ps -eo pid= | tr -d ' '); return ;;
    --sort) _rdtctl_lines < <(_rdtctl_words "group domain tasks occupancy total local"); return ;;
    --color) _rdtctl_lines < <(_rdtctl_words "always auto never"); return ;;
    --json) _rdtctl_lines < <(_rdtctl_words "pretty short off"); return ;;
    --root | --resctrl) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    --output | --from | --exe | --html | --play) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    --mb) [[ $verb == suggest ]] || return ;;
    -d | --interval | --duration | -n | --wait | -c | -S | --since | -U | --until | --l2 | --l3 | --smba | --ways | --for | --repeats | --noise-cmd | --cpus | --max-loss | --rounds | --metric | --seconds | --name | --thread | --cmdline | --cgroup | --pod | --container) return ;;
    --noise) _rdtctl_lines < <(_rdtctl_words "stream"); return ;;
    --probe) _rdtctl_lines < <(_rdtctl_words "latency timer"); return ;;
  esac
  if [[ $current == -* ]]; then
    _rdtctl_lines < <({ rdtctl ${verb:+"$verb"} --help; rdtctl --help; } 2>/dev/null | grep -E '^  -' | grep -oE -- '(^| )-(-[a-z0-9-]+|[a-zA-Z])\b' | tr -d ' ' | sort -u)
  elif [[ -z $verb ]]; then
    _rdtctl_lines < <(_rdtctl_words "@RDTCTL_VERBS@")
  else
    case $verb in
      show | adopt) _rdtctl_lines < <(rdtctl list --names 2>/dev/null) ;;
      explain | assign) _rdtctl_lines < <(ps -eo pid= | tr -d ' ') ;;
      completion) _rdtctl_lines < <(_rdtctl_words "bash zsh fish") ;;
      help) _rdtctl_lines < <(_rdtctl_words "@RDTCTL_VERBS@") ;;
      check | plan) mapfile -t COMPREPLY < <(compgen -f -X '!*.toml' -- "$current"; compgen -d -S / -- "$current") ;;
      history | blame | record | import) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
      edit) mapfile -t COMPREPLY < <(cd /etc/rdtd 2>/dev/null && compgen -f -X '!*.toml' -- "$current") ;;
      snapshot) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
      run | bench | suggest) mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
    esac
  fi
}
complete -o filenames -F _rdtctl rdtctl
