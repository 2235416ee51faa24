# For ~/.zshrc: source it, then `setopt prompt_subst` and put $(gitindex_prompt) into PROMPT, in single quotes.
# Shows the state of the index for HEAD: edits do not matter, every answer lays them over. Costs one
# `git rev-parse`, because `reset` and `stash` move HEAD without an event. `git fresh` proves it.
gitindex_head() {
    git -C "$1" --no-replace-objects rev-parse -q --verify 'HEAD^{tree}' 2>/dev/null ||
        git -C "$1" hash-object -t tree /dev/null 2>/dev/null
}
gitindex_prompt() {
    local at=$PWD line marker
    while [[ -n $at ]]; do
        if [[ -r $at/.llmc/rag_index_status.json ]]; then
            line=$(<$at/.llmc/rag_index_status.json)
            case $line in
                (*'"index_state": "fresh"'*)
                    marker=$(<$at/.llmc/completion_marker.json)
                    case $marker in
                        (*"\"treeId\": \"$(gitindex_head "$at")\""*) print -n ' ✓idx' ;;
                        (*) print -n ' …idx' ;;
                    esac
                    ;;
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
