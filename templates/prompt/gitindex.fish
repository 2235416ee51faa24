# For ~/.config/fish/config.fish: source it, then call gitindex_prompt in fish_prompt.
# Reads one file and starts nothing. It shows what the last event said; `git fresh` proves it.
function gitindex_prompt
    set -l at $PWD
    while test -n "$at"
        if test -r "$at/.llmc/rag_index_status.json"
            read -z -l line <"$at/.llmc/rag_index_status.json"
            switch $line
                case '*"index_state": "fresh"*'
                    printf ' ✓idx'
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
