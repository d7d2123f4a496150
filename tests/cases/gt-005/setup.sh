#!/bin/sh
# A repository of another user is refused with the remedy, and nothing is written.
set -e
G="git -c user.name=t -c user.email=t@example.invalid"
git init -q -b main .
mkdir -p fragments
echo a > fragments/a.md; $G add -A; $G commit -qm a
# needs root: gives the repository to another user
chown -R 12345:12345 .
