#!/bin/sh
# check.sh GITINDEX FOLDER: what the GitHub Action and the GitLab job run. Variables: BASE, the branch to merge
# with; FAIL_ON, a list of `merge` and `api`; API_OPTIONS; SEED, where packs of the index are; SIGNERS, the lines of an
# allowed-signers file; PUSH_PACK, `true` to push a pack there. Writes merge.sarif, api.sarif and affected.txt.
set -u
gitindex=$1
out=$2
mkdir -p "$out"
export GITINDEX=1 # hooks and gates are off in CI otherwise
if [ -n "${SIGNERS:-}" ]; then
    printf '%s\n' "$SIGNERS" >"$out/signers"
    git config --global gitindex.pack.signers "$(cd "$out" && pwd)/signers"
fi
"$gitindex" index ${SEED:+--seed "$SEED"} || exit 1
if [ -n "${SEED:-}" ] && [ "${PUSH_PACK:-}" = true ]; then
    "$gitindex" pack check && "$gitindex" pack push --to "$SEED" || exit 1
fi
status=0

base=
for name in "${BASE:-}" "origin/${BASE:-}"; do
    if [ -n "${BASE:-}" ] && git rev-parse -q --verify "$name^{commit}" >/dev/null; then base=$name; fi
done
if [ -n "$base" ]; then
    "$gitindex" merge-check "$base"
    code=$?
    "$gitindex" merge-check "$base" --format sarif >"$out/merge.sarif"
    case " ${FAIL_ON:-merge} " in *merge*) [ "$code" = 1 ] && status=1 ;; esac
    fork=$(git merge-base "$base" HEAD) &&
        "$gitindex" impact "$fork..HEAD" --tests >"$out/affected.txt"
fi

if git describe --tags --abbrev=0 >/dev/null 2>&1; then
    # shellcheck disable=SC2086 # several options in one variable
    "$gitindex" api --check ${API_OPTIONS:-}
    code=$?
    # shellcheck disable=SC2086
    "$gitindex" api ${API_OPTIONS:-} --format sarif >"$out/api.sarif"
    case " ${FAIL_ON:-merge} " in *api*) [ "$code" = 1 ] && status=1 ;; esac
fi

if [ -n "${GITHUB_OUTPUT:-}" ]; then
    echo "sarif=$out" >>"$GITHUB_OUTPUT"
    echo "affected=$out/affected.txt" >>"$GITHUB_OUTPUT"
fi
exit $status
