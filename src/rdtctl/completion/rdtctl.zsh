#compdef rdtctl
# Completion of rdtctl for zsh: verbs, options, groups, units, processes and files, as rdtctl itself tells them.
_rdtctl() {
  local verb=${words[(r)[a-z][a-z-]#]:-}
  [[ $verb == rdtctl ]] && verb=${words[2,-1][(r)[a-z][a-z-]#]:-}
  local -a found
  case ${words[CURRENT-1]} in
    -g | --group) found=(${(f)"$(rdtctl list --no-legend 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --unit) found=(${(f)"$(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | cut -d' ' -f1)"}); compadd -a found; return ;;
    --sort) compadd group domain tasks occupancy total local; return ;;
    --json) compadd pretty short off; return ;;
    --root | --resctrl) _files -/; return ;;
    --output) _files; return ;;
  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    found=(${(f)"$(rdtctl ${verb:#${words[CURRENT]}} --help 2>/dev/null | grep -oE -- '(^|[ ,])-(-[a-z-]+|[a-z])\b' | tr -d ' ,')"})
    compadd -a found
  elif [[ -z $verb || $verb == ${words[CURRENT]} ]]; then
    compadd @RDTCTL_VERBS@
  else
    case $verb in
      show) found=(${(f)"$(rdtctl list --no-legend 2>/dev/null | cut -d' ' -f1)"}); compadd -a found ;;
      explain | assign) _pids ;;
      completion) compadd bash zsh fish ;;
      check) _files -g '*.toml' ;;
      snapshot) _files -/ ;;
      run) _command_names -e ;;
    esac
  fi
}
_rdtctl "$@"
