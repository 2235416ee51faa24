#compdef gitindex git-index
_gitindex() {
    local -a files folders
    local line
    for line in "${(@f)$(COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) _GITINDEX_COMPLETE=complete_bash gitindex 2>/dev/null)}"; do
        if [[ "$line" == */ ]]; then folders+=("$line"); elif [[ -n "$line" ]]; then files+=("$line"); fi
    done
    (( $#folders )) && compadd -U -S '' -a folders
    (( $#files )) && compadd -U -a files
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _gitindex "$@"; else compdef _gitindex gitindex git-index; fi
