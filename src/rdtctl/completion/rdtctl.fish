# Completion of rdtctl for fish: verbs and options with what they do, groups, units, processes and files, as rdtctl lists them.
function __rdtctl_verb
    set -l words (commandline -opc)
    set -l i 2
    while test $i -le (count $words)
        switch $words[$i]
            case @RDTCTL_VALUE_OPTIONS@ --mb
                set i (math $i + 1) # its value
            case '-*'
            case '*'
                echo $words[$i]
                return
        end
        set i (math $i + 1)
    end
end
function __rdtctl_is
    contains -- (__rdtctl_verb) $argv
end
function __rdtctl_groups
    rdtctl list --names 2>/dev/null
end
# The verbs, or for 1 the options of the verb and of rdtctl itself: name, tab and description from the help.
function __rdtctl_described
    begin; test $argv[1] = 0; or rdtctl (__rdtctl_verb) --help; rdtctl --help; end 2>/dev/null | awk -v option=$argv[1] '
    function give(  i, n, names) {
      n = split(head, names, /,? +/)
      for (i = 1; i <= n; i++)
        if ((option ? names[i] ~ /^-/ : i == 1 && names[i] ~ /^[a-z]/) && !given[names[i]]++)
          print names[i] "\t" text
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
end
complete -c rdtctl -f
complete -c rdtctl -n 'not __rdtctl_verb | string length -q' -a '(__rdtctl_described 0)'
complete -c rdtctl -n 'string match -q -- "-*" (commandline -ct)' -a '(__rdtctl_described 1)'
complete -c rdtctl -s g -l group -x -a '(__rdtctl_groups)'
complete -c rdtctl -l unit -x -a '(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | string split -f 1 " ")'
complete -c rdtctl -l protect -x -a '(systemctl list-units --plain --no-legend --type=service 2>/dev/null | string split -f 1 " ")'
complete -c rdtctl -s S -l since -x
complete -c rdtctl -s U -l until -x
complete -c rdtctl -l from -r -F
complete -c rdtctl -l color -x -a 'always auto never'
complete -c rdtctl -l duration -x
complete -c rdtctl -s n -x
complete -c rdtctl -l wait -x
complete -c rdtctl -s c -x
complete -c rdtctl -l exe -r -F
complete -c rdtctl -l user -x -a '(__fish_complete_users)'
complete -c rdtctl -l user-group -x -a '(__fish_complete_groups)'
complete -c rdtctl -l user-unit -x -a '(systemctl --user list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | string split -f 1 " ")'
complete -c rdtctl -l name -x
complete -c rdtctl -l thread -x
complete -c rdtctl -l cmdline -x
complete -c rdtctl -l cgroup -x
complete -c rdtctl -l pod -x
complete -c rdtctl -l container -x
complete -c rdtctl -l pid -x -a '(__fish_complete_pids)'
complete -c rdtctl -l sort -x -a 'group domain tasks occupancy total local'
complete -c rdtctl -l json -x -a 'pretty short off'
complete -c rdtctl -l root -x -a '(__fish_complete_directories)'
complete -c rdtctl -l resctrl -x -a '(__fish_complete_directories)'
complete -c rdtctl -l output -r -F
complete -c rdtctl -l html -r -F
complete -c rdtctl -l play -r -F
complete -c rdtctl -l noise -x -a stream
complete -c rdtctl -l probe -x -a 'latency timer'
complete -c rdtctl -l noise-group -x -a '(__rdtctl_groups)'
complete -c rdtctl -l pseudo-lock -x -a '(ls /dev/pseudo_lock 2>/dev/null)'
complete -c rdtctl -s d -l interval -x
complete -c rdtctl -l ways -x
complete -c rdtctl -l for -x
complete -c rdtctl -l repeats -x
complete -c rdtctl -l cpus -x
complete -c rdtctl -l max-loss -x
complete -c rdtctl -n '__rdtctl_is show adopt' -a '(__rdtctl_groups)'
complete -c rdtctl -n '__rdtctl_is explain assign' -a '(__fish_complete_pids)'
complete -c rdtctl -n '__rdtctl_is completion' -a 'bash zsh fish'
complete -c rdtctl -n '__rdtctl_is help' -a '(__rdtctl_described 0)'
complete -c rdtctl -n '__rdtctl_is check plan' -F
complete -c rdtctl -n '__rdtctl_is history blame record import' -F
complete -c rdtctl -n '__rdtctl_is edit' -a '(path basename /etc/rdtd/*.toml 2>/dev/null)'
complete -c rdtctl -n '__rdtctl_is snapshot' -a '(__fish_complete_directories)'
complete -c rdtctl -n '__rdtctl_is run bench suggest' -x -a '(__fish_complete_subcommand --fcs-skip=2 -- @RDTCTL_VALUE_OPTIONS@ --mb)'
