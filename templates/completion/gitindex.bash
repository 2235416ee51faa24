_gitindex_offer() {
    local IFS=$'\n' line
    COMPREPLY=()
    for line in $(COMP_WORDS="$1" COMP_CWORD="$2" _GITINDEX_COMPLETE=complete_bash gitindex 2>/dev/null); do
        COMPREPLY+=("$line")
        [[ $line == */ ]] && compopt -o nospace
    done
}
_gitindex() { _gitindex_offer "${COMP_WORDS[*]}" "$COMP_CWORD"; }
_git_index() { _gitindex_offer "gitindex ${COMP_WORDS[*]:2}" "$((COMP_CWORD - 1))"; }
complete -F _gitindex gitindex git-index
