# For ~/.zshrc: source it, then `setopt prompt_subst` and put $(gitindex_prompt) into PROMPT, in single quotes.
# Reads one file and starts nothing. It shows what the last event said; `git fresh` proves it.
gitindex_prompt() {
    local at=$PWD line
    while [[ -n $at ]]; do
        if [[ -r $at/.llmc/rag_index_status.json ]]; then
            line=$(<$at/.llmc/rag_index_status.json)
            case $line in
                (*'"index_state": "fresh"'*) print -n ' ✓idx' ;;
                (*'"index_state": "stale"'*) print -n ' …idx' ;;
                (*'"index_state": "rebuilding"'*) print -n ' ↻idx' ;;
                (*'"index_state": "error"'*) print -n ' ✗idx' ;;
            esac
            return
        fi
        [[ -e $at/.git ]] && return
        at=${at%/*}
    done
}
