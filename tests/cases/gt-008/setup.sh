#!/bin/sh
# What git sets for hooks does not lead to another repository, and no configuration changes.
set -e
G="git -c user.name=t -c user.email=t@example.invalid"
git init -q -b main .
mkdir -p fragments
echo a > fragments/a.md; $G add -A; $G commit -qm a
