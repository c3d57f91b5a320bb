# @commands@ and the like stand for what the parsers say. zsh has bash's functions by bashcompinit.
_cudnn_ctypes() {
    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="@commands@"
    else
        case "${COMP_WORDS[1]} $before" in
@choices@
        esac
        if [ -z "$words" ]; then
            case "$word" in
            -*)
                case "${COMP_WORDS[1]}" in
@options@
                esac ;;
            esac
        fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _cudnn_ctypes cudnn-ctypes
