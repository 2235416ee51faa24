#!/bin/sh
# comment.sh REPORT: put the report on the pull request of a GitHub job, as one comment that later runs replace.
# Needs `gh` and a token that may write pull requests; without them it says so in one line and succeeds.
set -u
report=$1
case "${GITHUB_REF:-}" in
refs/pull/*/merge) number=${GITHUB_REF#refs/pull/} number=${number%/merge} ;;
*) exit 0 ;;
esac
[ -s "$report" ] || exit 0
comments="repos/$GITHUB_REPOSITORY/issues"
body=$(mktemp) || exit 0
head -c 60000 "$report" >"$body" # a comment has at most 65,536 characters
mine='.[] | select(.body | startswith("<!-- gitindex report -->")) | .id'
if id=$(gh api --paginate "$comments/$number/comments" --jq "$mine" 2>/dev/null) &&
    id=$(printf '%s\n' "$id" | head -n 1) &&
    if [ -n "$id" ]; then
        gh api -X PATCH "$comments/comments/$id" -F "body=@$body" >/dev/null 2>&1
    else
        gh api -X POST "$comments/$number/comments" -F "body=@$body" >/dev/null 2>&1
    fi; then
    echo "gitindex: the report is on pull request $number"
else
    echo "gitindex: no comment was posted: the token may not write to pull request $number (pull-requests: write)"
fi
rm -f "$body"
