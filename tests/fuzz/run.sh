#!/bin/sh
# run.sh - run libFuzzer programs, each for a time, over seeds and finds
#
# usage: run.sh SECONDS PROGRAM...   (ZMAILER_SRC names the source tree)
#
# SPDX-License-Identifier: ISC
seconds=$1
shift
failed=
for program; do
	name=${program##*/fuzz-}
	seeds=$ZMAILER_SRC/tests/fuzz/corpus/$name
	found=tests/fuzz/found/$name
	dict=$(find "$ZMAILER_SRC/tests/fuzz" -name "$name.dict")
	log=tests/fuzz/found/$name.log
	mkdir -p "$found"
	if [ ! -d "$seeds" ]; then
		echo "$name: no seeds in $seeds" >&2
		failed="$failed $name"
		continue
	fi
	set -- "$found" "$seeds" -max_total_time="$seconds" -timeout=10 \
		-rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="tests/fuzz/found/$name."
	[ -f "$dict" ] && set -- "$@" -dict="$dict"
	if "$program" "$@" >"$log" 2>&1; then
		runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
		cover=$(sed -n 's/.*cov: \([0-9]*\).*/\1/p' "$log" | tail -1)
		echo "$name: ${runs:-0} runs, ${cover:-0} edges, no finding"
	else
		tail -40 "$log" >&2
		echo "$name: FAILED, see $log" >&2
		failed="$failed $name"
	fi
done
[ -z "$failed" ] || { echo "failed:$failed" >&2; exit 1; }
