# For ~/.config/fish/config.fish: source it, then call gitindex_prompt in fish_prompt.
# Shows the state of the index for HEAD: edits do not matter, every answer lays them over. Costs one
# `git rev-parse`, because `reset` and `stash` move HEAD without an event. `git fresh` proves it.
function gitindex_head
    git -C $argv[1] --no-replace-objects rev-parse -q --verify 'HEAD^{tree}' 2>/dev/null
    or git -C $argv[1] hash-object -t tree /dev/null 2>/dev/null
end
function gitindex_prompt
    set -l at $PWD
    while test -n "$at"
        if test -r "$at/.llmc/rag_index_status.json"
            read -z -l line <"$at/.llmc/rag_index_status.json"
            switch $line
                case '*"index_state": "fresh"*'
                    set -l tree (gitindex_head $at)
                    if string match -q "*\"treeId\": \"$tree\"*" <"$at/.llmc/completion_marker.json"
                        printf ' ✓idx'
                    else
                        printf ' …idx'
                    end
                case '*"index_state": "stale"*'
                    printf ' …idx'
                case '*"index_state": "rebuilding"*'
                    printf ' ↻idx'
                case '*"index_state": "error"*'
                    printf ' ✗idx'
            end
            return
        end
        test -e "$at/.git"; and return
        set at (string replace -r '/[^/]*$' '' -- $at)
    end
end
