# Records that HEAD may have moved, and returns. Sourced in a subshell by the installed hooks with
# gitindex_event set; stdin, stdout and stderr are /dev/null already.
# Builtins only. Takes no lock, reads no git, says nothing, always succeeds.

set +eu
[ "${GITINDEX-}" = 0 ] && exit 0
[ "${CI-}" = true ] && [ "${GITINDEX-}" != 1 ] && exit 0
[ -n "${_PRE_COMMIT_SKIP_POST_CHECKOUT-}" ] && exit 0
case ",${SKIP-}," in *,gitindex,*) exit 0 ;; esac

# The whole content of a small file, without its last newline, in $content.
gitindex_read() {
    content=
    while IFS= read -r line || [ -n "$line" ]; do
        content="$content${content:+
}$line"
    done <"$1"
}

# Which repository this is: git's own word, else the .git of this folder (a hook's cwd is the root).
git_dir=${GIT_DIR-}
if [ -z "$git_dir" ] && [ -d .git ]; then
    git_dir=.git
elif [ -z "$git_dir" ] && [ -f .git ]; then
    gitindex_read .git
    git_dir=${content#gitdir: }
fi
git_dir=${git_dir%/}
case $git_dir in '') exit 0 ;; /*) ;; *) git_dir=$PWD/$git_dir ;; esac
common=$git_dir worktree=main
if [ -f "$git_dir/commondir" ]; then
    gitindex_read "$git_dir/commondir"
    case $content in /*) common=$content ;; *) common=$git_dir/$content ;; esac
    worktree=wt-${git_dir##*/}
fi
store=$common/gitindex
[ -d "$store/spool" ] || exit 0

# A git template made this store, nobody asked for it here: temporary repositories are left alone.
if [ -e "$store/from-template" ] && [ ! -s "$store/from-template" ]; then
    tmp=${TMPDIR:-/tmp}
    case $PWD/ in "${tmp%/}"/* | /tmp/* | /var/tmp/*) exit 0 ;; esac
fi

# `gitindex.enabled` was false when a runner last looked, and no configuration has changed since.
off=$store/off.$worktree
if [ -e "$off" ]; then
    for config in "$common/config" "$git_dir/config.worktree" "${HOME-}/.gitconfig" \
        "${XDG_CONFIG_HOME:-${HOME-}/.config}/git/config"; do
        [ "$config" -nt "$off" ] && off= && break
    done
    [ -z "$off" ] || exit 0
fi

# Record the event, then make the public status say so, if it is the `fresh` or `error` that the runner wrote:
# a checkout may have put a tracked file in its place. One write over as many bytes: whoever reads meanwhile
# finds either text, or none that counts, and never half a file.
umask 077
printf '%s\n' "$gitindex_event $*" >>"$store/spool/$worktree"
[ "$gitindex_event" = reference-transaction ] && exit 0
if [ -f "$store/published/$worktree" ] && [ ! -e "$git_dir/index.lock" ] && [ ! -h .llmc ] && [ -O .llmc ] &&
    [ -f .llmc/stale_status.json ] && [ ! -h .llmc/stale_status.json ] &&
    [ -f .llmc/rag_index_status.json ] && [ ! -h .llmc/rag_index_status.json ]; then
    IFS= read -r stale <.llmc/stale_status.json
    IFS= read -r status <.llmc/rag_index_status.json
    before=${stale%%'"index_state": "stale"'*}'"index_state": "'
    after=\"${stale#*'"index_state": "stale"'}
    after=${after%\}*} # an error follows here, for which the stale text has spaces
    case ${#stale}$status in
        ${#status}"$before"fresh"$after"* | ${#status}"$before"error"$after"*)
            printf '%s\n' "$stale" 1<>.llmc/rag_index_status.json ;;
    esac
fi

# A live runner sees the event. It is alive if the process of that id has the name it gave itself,
# and a program: a zombie that nobody reaps (a container without init) keeps its name for ever.
if [ -r "$store/runner.alive" ]; then
    IFS=' ' read -r pid token <"$store/runner.alive"
    if [ -r "/proc/$pid/comm" ]; then
        IFS= read -r name <"/proc/$pid/comm"
        [ "$name" = "$token" ] && [ -e "/proc/$pid/exe" ] && exit 0
    fi
fi

IFS= read -r python <"$store/python"
[ -x "$python" ] || exit 0
trap '' HUP INT QUIT
cd / || exit 0
"$python" -I -m gitindex.refresh.background "$common" "$OLDPWD" 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- &
exit 0
