# real - Debian's mail programs as clients, next hops and readers
EXTRA_DIST += tests/real
if HAVE_PYTHON3
LONG_TESTS += tests/real/run-corpus
if !SANITIZE
LONG_TESTS += tests/real/run-real tests/real/run-milters tests/real/run-secure \
	tests/real/run-next-hops tests/real/run-policy \
	tests/real/run-fail2ban tests/real/run-syslog \
	tests/real/run-cluster tests/real/run-sentinels tests/real/run-news \
	tests/real/run-copies tests/real/accept/run-accepted tests/real/run-taken-over \
	tests/real/run-clocks \
	tests/real/run-moved tests/real/run-demo-cluster tests/real/run-copies-accounts \
	tests/real/run-old-queues \
	tests/real/run-compared \
	tests/real/run-databases tests/real/run-directories tests/real/run-web \
	tests/real/run-resolver
endif
endif
# what apt made for private roots (privateroot.py)
clean-local: clean-layers
.PHONY: clean-layers
clean-layers:
	rm -rf tests/real/layers tests/real/axe tests/seconds
