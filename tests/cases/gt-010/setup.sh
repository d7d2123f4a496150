#!/bin/sh
# A name outside ASCII comes back as it is.
set -e
G="git -c user.name=t -c user.email=t@example.invalid"
git init -q -b main .
mkdir -p "fragments/docs ü"
printf "one\n" > "fragments/docs ü/設計 メモ.md"; $G add -A; $G commit -qm a
printf "two\n" > "fragments/docs ü/設計 メモ.md"; $G commit -qam b
