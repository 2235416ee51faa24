# `git fresh`: is the index proven for HEAD's tree? Sourced by a git alias in the root of the work tree.
# Edits do not matter: every answer overlays them. Says `fresh` or `stale` only where files prove it in
# one look; everything else is the answer of `gitindex status`. Exit code as there: 0 fresh, 1 stale,
# 3 not indexed, 4 error.

# The whole content of a small file in $content; fails if it is not there.
gitindex_read() {
    [ -f "$1" ] && [ -r "$1" ] || return 1
    content=
    while IFS= read -r line || [ -n "$line" ]; do
        content="$content${content:+
}$line"
    done <"$1"
}

# Sets $store and $id, or fails. Neither this script nor Python speaks for a repository elsewhere.
gitindex_find() {
    git_dir=.git
    if [ -f "$git_dir" ]; then
        gitindex_read "$git_dir" || return 1
        git_dir=${content#gitdir: }
    fi
    if [ -n "${GIT_DIR-}" ] && [ ! "$GIT_DIR" -ef "$git_dir" ]; then
        echo "error: GIT_DIR names another repository than the one of this folder"
        exit 4
    fi
    if gitindex_read "$git_dir/commondir"; then
        case $content in /*) store=$content/gitindex ;; *) store=$git_dir/$content/gitindex ;; esac
        id=wt-${git_dir##*/}
    else
        store=$git_dir/gitindex
        id=main
    fi
    [ -d "$store" ]
}

# Succeeds if the marker proves this very store by the gitindex that is installed now.
gitindex_proven() {
    gitindex_read .llmc/completion_marker.json && [ ! -h .llmc ] || return 1
    marker=$content
    # The marker is of our environment, and nothing was installed there since: a grammar may have
    # changed. Else let Python compare.
    gitindex_read "$store/python" && [ "$content" = "$gitindex_python" ] || return 1
    for part in "$gitindex_home" "$gitindex_site" "$gitindex_home/freshness/fingerprint.py"; do
        [ "$part" -nt .llmc/completion_marker.json ] && return 1
    done
    case $PWD in *[!A-Za-z0-9_./+@%,:=\ -]*) return 1 ;; esac
    case $marker in *'"kind": "gitindex_completion_v1", "codebasePath": "'"$PWD"'", '*) ;; *) return 1 ;; esac
    gitindex_read "$store/published/$id" || return 1
    # The stamp: inode and size of the database, which never shrinks, name and number of both halves of the
    # store; then the newest run with its commit, its tree and the id that git gives its marker's bytes.
    stamp=$content
    {
        IFS=' ' read -r format inode size log facts number lexical opstamp &&
            IFS=' ' read -r run commit tree digest
    } <"$store/published/$id"
    [ "$format" = gitindex_stamp_v4 ] || return 1
    { IFS= read -r sum && IFS=' ' read -r state name now left; } <"$store/facts.checksums" || return 1
    [ "$state $name" = "closed $facts" ] && [ "${now:-0}" -ge "$number" ] 2>/dev/null || return 1
    [ ! -s "$store/facts.db-wal" ] || return 1 # Python says whose log it is
    gitindex_read "$store/lexical/id" && [ "$content" = "$lexical" ] || return 1
    gitindex_read "$store/lexical/meta.json" || return 1
    now=${content##*'"opstamp": '}
    [ "${now%%[!0-9]*}" -ge "$opstamp" ] 2>/dev/null || return 1
    set -- $(LC_ALL=C ls -in "$store/facts.db" 2>/dev/null)
    [ "${1-}" = "$inode" ] && [ "${6:-0}" -ge "$size" ] 2>/dev/null || return 1
    case $marker in *'"runId": "'"$run"'", "headCommit": '*', "treeId": "'"$tree"'", '*) ;; *) return 1 ;; esac
    [ "$(gitindex_git hash-object --no-filters .llmc/completion_marker.json)" = "$digest" ]
}

# As gitindex itself asks git: of this repository and no other, and no replacement is taken for HEAD.
gitindex_git() {
    GIT_CEILING_DIRECTORIES=${PWD%/*} git --no-optional-locks --no-replace-objects \
        -c core.fsmonitor=false "$@"
}

# Prints the answer and sets $code, or fails where this script must not judge.
gitindex_answer() {
    gitindex_find && gitindex_proven || return 1
    for note in progress failure; do
        [ -s "$store/$note/$id" ] && return 1
    done
    queued=
    for note in spool taken; do
        [ -e "$store/$note/$id" ] && queued=1
    done
    head_tree=$(gitindex_git rev-parse --verify --quiet 'HEAD^{tree}') || return 1
    # The same marker and stamp before and after HEAD was read: nothing was published in between.
    gitindex_read .llmc/completion_marker.json && [ "$content" = "$marker" ] || return 1
    gitindex_read "$store/published/$id" && [ "$content" = "$stamp" ] || return 1
    code=1
    if [ "$tree" != "$head_tree" ]; then
        echo "stale: HEAD's tree $(printf %.12s "$head_tree") is not the indexed $(printf %.12s "$tree")"
    elif [ -n "$queued" ]; then
        echo "stale: a refresh is queued"
    else
        echo fresh && code=0
    fi
}

if gitindex_answer; then
    exit "$code"
fi
exec "$gitindex_python" -I -m gitindex status --no-edits
