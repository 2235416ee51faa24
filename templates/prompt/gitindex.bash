# For ~/.bashrc: source it, then put $(gitindex_prompt) into PS1, in single quotes.
# Reads one file and starts nothing. It shows what the last event said; `git fresh` proves it.
gitindex_prompt() {
    local at=$PWD line
    while [ -n "$at" ]; do
        if [ -r "$at/.llmc/rag_index_status.json" ]; then
            IFS= read -r -d '' line <"$at/.llmc/rag_index_status.json"
            case $line in
                *'"index_state": "fresh"'*) printf ' ✓idx' ;;
                *'"index_state": "stale"'*) printf ' …idx' ;;
                *'"index_state": "rebuilding"'*) printf ' ↻idx' ;;
                *'"index_state": "error"'*) printf ' ✗idx' ;;
            esac
            return
        fi
        [ -e "$at/.git" ] && return
        at=${at%/*}
    done
}
