#!/usr/bin/env bash
# Deploys things.
source ./lib.sh
. "$HOME/env.sh"

deploy() {
  local target="$1" # where
  inner() { echo "in ${target} and $(date '+%s')"; }
  cat <<TXT
not a function() { }
TXT
}

function build_all {
  echo 'building'
}

function with_parens() (
  cd /tmp
)

if true; then
  conditional() { :; }
fi
