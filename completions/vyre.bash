# shellcheck shell=bash disable=SC2207
# Completion of vyre for bash: source this file, or put it where bash-completion looks.

_vyre_policies="persistent-kernel arm-independence copy-overlap command-reuse bindless trace-jit
    graph-capture"

# Completes the value of the option $1 into COMPREPLY. Fails if the option takes no value.
_vyre_value() {
    case $1 in
    --backend) COMPREPLY=($(compgen -W "cpu vulkan opencl" -- "$2")) ;;
    --mode) COMPREPLY=($(compgen -W "auto plain replay persistent" -- "$2")) ;;
    --csv) COMPREPLY=($(compgen -f -X '!*.csv' -- "$2") $(compgen -d -- "$2")) ;;
    --store) COMPREPLY=($(compgen -f -- "$2")) ;;
    -o | --output | --record) COMPREPLY=($(compgen -f -- "$2")) ;;
    --device)
        COMPREPLY=()
        [ "${COMP_WORDS[1]}" = store ] ||
            COMPREPLY=($(compgen -W "cpu integrated discrete software" -- "$2"))
        ;;
    --repeat | --repeat-hint | --batch | --workers | --older-than | --size) COMPREPLY=() ;;
    *) return 1 ;;
    esac
}

_vyre() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} options files=
    COMPREPLY=()
    # bash treats the = of --mode=replay as a separate word.
    if [ "$current" = "=" ]; then
        current=
    elif [ "$previous" = "=" ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "run compare explain report trace devices probe decide store help --help --version" -- "$current"))
        return
    fi
    _vyre_value "$previous" "$current" && return
    case $command in
    run)
        options="--backend --device --mode --repeat --workers --calibrate --store --no-store"
        options="$options --no-proof --record --audit --json --quiet --help" files=yes
        ;;
    compare)
        options="--backend --device --repeat --rounds --workers --calibrate --store --no-store"
        options="$options --no-proof --json --quiet --help" files=yes
        ;;
    explain)
        options="--backend --device --repeat-hint --calibrate --store --no-store --workers --batch"
        options="$options --no-proof --json --help" files=yes
        ;;
    report | trace) options="--output --help" files=yes ;;
    devices) options="--store --no-store --json --help" ;;
    probe) options="--backend --device --store --no-store --json --quiet --help" ;;
    decide)
        options="--csv --json --help"
        [ "$COMP_CWORD" -eq 2 ] && options="$_vyre_policies --help"
        ;;
    store)
        options="--store --json --help"
        [ "${COMP_WORDS[2]}" = prune ] && options="--older-than --device --size --all $options"
        [ "${COMP_WORDS[2]}" = import ] && files=yes
        [ "$COMP_CWORD" -eq 2 ] && options="list export import prune check --help" files=
        ;;
    help) options="run compare explain report trace devices probe decide store" ;;
    *) return ;;
    esac
    if [ -n "$files" ] && [[ $current != -* ]]; then
        COMPREPLY=($(compgen -f -X '!*.json' -- "$current") $(compgen -d -- "$current"))
        return
    fi
    COMPREPLY=($(compgen -W "$options" -- "$current"))
}

complete -o filenames -F _vyre vyre
