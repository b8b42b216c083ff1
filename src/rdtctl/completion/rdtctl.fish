# Completion of rdtctl for fish: verbs, options, groups, units, processes and files, as rdtctl itself tells them.
function __rdtctl_groups
    rdtctl list --no-legend 2>/dev/null | string split -f 1 ' '
end
function __rdtctl_options
    set -l verb (commandline -opc | string match -rv '^-' | string match -v rdtctl)[1]
    rdtctl $verb --help 2>/dev/null | string match -ra -- '(?:^|[ ,])(--[a-z-]+)' | string match -r -- '^--.*'
end
complete -c rdtctl -f
complete -c rdtctl -n __fish_use_subcommand -a '@RDTCTL_VERBS@'
complete -c rdtctl -n 'string match -q -- "-*" (commandline -ct)' -a '(__rdtctl_options)'
complete -c rdtctl -s g -l group -x -a '(__rdtctl_groups)'
complete -c rdtctl -l unit -x -a '(systemctl list-units --plain --no-legend --type=service,scope,slice 2>/dev/null | string split -f 1 " ")'
complete -c rdtctl -l sort -x -a 'group domain tasks occupancy total local'
complete -c rdtctl -l json -x -a 'pretty short off'
complete -c rdtctl -l root -x -a '(__fish_complete_directories)'
complete -c rdtctl -l resctrl -x -a '(__fish_complete_directories)'
complete -c rdtctl -l output -r -F
complete -c rdtctl -n '__fish_seen_subcommand_from show' -a '(__rdtctl_groups)'
complete -c rdtctl -n '__fish_seen_subcommand_from explain assign' -a '(__fish_complete_pids)'
complete -c rdtctl -n '__fish_seen_subcommand_from completion' -a 'bash zsh fish'
complete -c rdtctl -n '__fish_seen_subcommand_from check' -F
complete -c rdtctl -n '__fish_seen_subcommand_from snapshot' -a '(__fish_complete_directories)'
complete -c rdtctl -n '__fish_seen_subcommand_from run' -a '(__fish_complete_subcommand)'
