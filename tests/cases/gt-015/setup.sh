#!/bin/sh
# In a linked work tree .git is a file.
set -e
G="git -c user.name=t -c user.email=t@example.invalid"
git init -q -b main main; cd main; mkdir -p fragments
echo a > fragments/a.md; $G add -A; $G commit -qm a
echo b > fragments/a.md; $G commit -qam b
git worktree add -q ../wt HEAD~1
# run inside ./wt
