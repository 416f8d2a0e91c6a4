#!/usr/bin/env bash
# Installs what some tests use beside Node, where Debian's packages can be had: Prometheus and PgBouncer.
#
# Never fails: those tests are skipped without it, and say so. Starts no service, and leaves none running.
set -uo pipefail
export PATH="$PATH:/usr/sbin:/sbin"

leave_out() {
  echo "Not installed: ${missing[*]} ($1). The tests that need them will be skipped."
  exit 0
}

missing=()
command -v prometheus > /dev/null && command -v promtool > /dev/null || missing+=(prometheus)
command -v pgbouncer > /dev/null || missing+=(pgbouncer)
[ ${#missing[@]} -eq 0 ] && exit 0

command -v apt-get > /dev/null || leave_out 'there is no apt-get'
[ "$(id -u)" -eq 0 ] || leave_out 'only root may install packages'

# Asked by Debian's packages before they start a service: no. One that is there already has its reasons, and is asked.
policy=/usr/sbin/policy-rc.d
log=$(mktemp)
leftovers=("$log")
trap 'rm -f "${leftovers[@]}"' EXIT
if [ ! -e "$policy" ]; then
  leftovers+=("$policy")
  printf '#!/bin/sh\nexit 101\n' > "$policy" && chmod +x "$policy" || leave_out "$policy cannot be written"
fi

export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1
options=(-qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o DPkg::Lock::Timeout=60)
{
  timeout 120 apt-get "${options[@]}" update
  timeout 300 apt-get "${options[@]}" install --yes --no-install-recommends "${missing[@]}"
} > "$log" 2>&1 || leave_out "$(tail -n 1 "$log")"

for service in "${missing[@]}"; do
  if pgrep -x "$service" > /dev/null; then
    service "$service" stop > /dev/null 2>&1 || echo "The service $service was started by its package, and cannot be stopped."
  fi
done
echo "Installed: ${missing[*]}"
