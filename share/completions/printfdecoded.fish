# fish completion for printfdecoded(8)
complete -c printfdecoded -f
complete -c printfdecoded -n __fish_is_first_arg -a check-config -d 'Say what a configuration does'
complete -c printfdecoded -n __fish_is_first_arg -a nats-setup -d 'Make the streams at servers of NATS'
complete -c printfdecoded -n __fish_is_first_arg -a nats-status -d 'Streams, workers and edges at servers of NATS'
complete -c printfdecoded -n '__fish_seen_subcommand_from check-config nats-setup nats-status' -F
complete -c printfdecoded -s c -l config -r -F -d 'The configuration'
complete -c printfdecoded -l expect -d 'Exit status 3 where no producer has sent a stream'
complete -c printfdecoded -s h -l help -d 'Print help'
complete -c printfdecoded -s V -l version -d 'Print the version, and what it was built with'
