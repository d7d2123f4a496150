#!/bin/sh
# The index holds a duplicate key that the work tree does not.
set -e
G="git -c user.name=t -c user.email=t@example.invalid"
git init -q -b main .
mkdir -p templates
printf "template_id: t\nversion: 1\n" > templates/t.yaml; $G add -A; $G commit -qm a
printf "template_id: t\nversion: 1\nversion: 2\n" > templates/t.yaml; git add templates/t.yaml
printf "template_id: t\nversion: 1\n" > templates/t.yaml
