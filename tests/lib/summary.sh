#!/bin/sh
# summary.sh - what make check found, where there is no Python to count tests
#
#   summary.sh NOT_RUN LOG...
#
# Counts suites by their results (.trs beside each LOG), names those that
# failed, and ends as summary.py does, with NOT_RUN as the reason.
#
# SPDX-License-Identifier: ISC
not_run=$1
shift
passed=0 failed=0 skipped=0
for log in "$@"; do
	case $(sed -n 's/^:test-result: //p' "${log%.log}.trs" 2>/dev/null) in
	PASS) passed=$((passed + 1)) ;;
	SKIP) skipped=$((skipped + 1)) ;;
	*)	failed=$((failed + 1))
		echo "FAILED: ${log%.log}" ;;
	esac
done
told="$passed passed, $failed failed, $skipped skipped"
echo "$told${not_run:+ - NOT RUN: $not_run}"
[ $failed -eq 0 ]
