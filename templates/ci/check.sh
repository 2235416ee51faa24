#!/bin/sh
# check.sh GITINDEX FOLDER: what the GitHub Action and the GitLab job run. Variables: BASE, the branch to merge
# with; FAIL_ON, a list of `merge`, `dangling` and `api`; API_OPTIONS; SEED, where packs of the index are; SIGNERS, the
# lines of an allowed-signers file; PUSH_PACK, `true` to push a pack there. Writes report.md, report.json, report.sarif,
# merge.sarif, api.sarif and affected.txt; report.md is also the job summary.
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
fork=
if [ -n "$base" ]; then
    "$gitindex" merge-check "$base"
    code=$?
    "$gitindex" merge-check "$base" --format sarif >"$out/merge.sarif"
    case " ${FAIL_ON:-merge} " in *merge*) [ "$code" = 1 ] && status=1 ;; esac
    fork=$(git merge-base "$base" HEAD) || echo "gitindex: not checked: no common history with $base; fetch-depth: 0 is needed" >&2
fi

# the change itself: a pull request since its merge base, else the last commit
[ -n "$fork" ] && [ "$fork" != "$(git rev-parse HEAD)" ] || fork=$(git rev-parse -q --verify HEAD^)
if [ -n "$fork" ]; then
    change="$fork..HEAD"
    "$gitindex" report "$change" >"$out/report.md"
    "$gitindex" report "$change" --format json >"$out/report.json"
    "$gitindex" report "$change" --format sarif >"$out/report.sarif"
    "$gitindex" impact "$change" --tests >"$out/affected.txt"
    "$gitindex" impact "$change" --dangling
    code=$?
    case " ${FAIL_ON:-merge} " in *dangling*) [ "$code" = 1 ] && status=1 ;; esac
    # shellcheck disable=SC2086 # several options in one variable
    "$gitindex" api "$change" --check ${API_OPTIONS:-}
    code=$?
    # shellcheck disable=SC2086
    "$gitindex" api "$change" ${API_OPTIONS:-} --format sarif >"$out/api.sarif"
    case " ${FAIL_ON:-merge} " in *api*) [ "$code" = 1 ] && status=1 ;; esac
else
    echo "gitindex: not checked: there is no commit before this one; fetch-depth: 0 is needed" >&2
fi

if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -s "$out/report.md" ]; then cat "$out/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
if [ -n "${GITHUB_OUTPUT:-}" ]; then
    {
        echo "sarif=$out"
        echo "affected=$out/affected.txt"
        echo "report=$out/report.md"
    } >>"$GITHUB_OUTPUT"
fi
exit $status
