#!/bin/sh
# night.sh - all fuzz targets in turn, for hours
#
# usage: night.sh HOURS SECONDS PROGRAM...   (ZMAILER_SRC names the source tree)
#
# Each has SECONDS a turn; as many at a time as there are processors.  A line
# for each turn, a table at the end; what was found lies in tests/fuzz/found/.
# libFuzzer programs are run by run.sh, the others run what mutate.c makes.
#
# SPDX-License-Identifier: ISC
end=$(($(date +%s) + $1 * 3600))
seconds=$2
shift 2
mkdir -p tests/fuzz/found
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=1}"

one() {
	name=${1##*/fuzz-}
	if strings "$1" 2>/dev/null | grep -q max_total_time; then
		sh "$ZMAILER_SRC/tests/fuzz/run.sh" "$seconds" "$1"
	else
		ZM_FUZZ_MS=$((seconds * 1000)) "$1" 2>"tests/fuzz/found/$name.log"
	fi || echo "$name: FAILED, see tests/fuzz/found/$name.log"
}

turn() {
	at_once=$(getconf _NPROCESSORS_ONLN) running=0
	for program; do
		[ "$(date +%s)" -lt "$end" ] || break
		one "$program" &
		running=$((running + 1))
		[ $running -lt "$at_once" ] || { wait; running=0; }
	done
	wait
}

log=tests/fuzz/found/night.log
: >"$log"
while [ "$(date +%s)" -lt "$end" ]; do
	turn "$@" | tee -a "$log"
done
echo
echo "inputs    findings  target"
awk -F: '{ made[$1] += 0; if ($2 ~ /FAILED/) bad[$1]++
	else if (match($2, /[0-9]+ (made|runs)/)) made[$1] += substr($2, RSTART) }
	END { for (n in made) { printf "%9d %9d  %s\n", made[n], bad[n], n
	all += bad[n] } exit all > 0 }' "$log" | sort -k3
! grep -q FAILED "$log"
