# bench - `make bench` prints rates, CPU, system calls; BENCH="relay local" BENCHFLAGS=--json
noinst_PROGRAMS += tests/bench/load tests/bench/sink tests/bench/router \
	tests/bench/idle tests/bench/milter tests/bench/spawn
tests_bench_spawn_SOURCES = tests/bench/spawn.c tests/bench/bench.h
tests_bench_milter_SOURCES = tests/bench/milter.c
tests_bench_milter_LDADD = -lpthread
tests_bench_idle_SOURCES = tests/bench/idle.c tests/bench/bench.h
tests_bench_idle_LDADD = $(OPENSSL_LIBS)
tests_bench_load_SOURCES = tests/bench/load.c tests/bench/bench.h
tests_bench_load_LDADD = $(OPENSSL_LIBS)
tests_bench_sink_SOURCES = tests/bench/sink.c tests/bench/bench.h
tests_bench_sink_LDADD = $(OPENSSL_LIBS)
tests_bench_router_SOURCES = tests/bench/router.c
tests_bench_router_LDADD = router/librouter.a $(ZM_LIBS)
EXTRA_DIST += tests/bench/backlog.py tests/bench/desk.py tests/bench/estimates.py tests/bench/fair.py tests/bench/feedback.py tests/bench/bench.py tests/bench/costs.py tests/bench/list.py tests/bench/sessions.py tests/bench/beside.py tests/bench/signed.py tests/bench/driver/zmailer
BENCH = relay local fanout
.PHONY: bench
bench: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/bench.py $(BENCHFLAGS) $(BENCH)
.PHONY: profile
profile: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/costs.py
.PHONY: bench-peers
PEERS = relay relaytls backlog slow100 sendmail
# beside Postfix, as root: in a network of its own, Postfix in a root of its own
bench-peers: all
	ZM_REAL_NET=/proc/$$$$/ns/net ZMAILER_BUILD=$(abs_top_builddir); \
	export ZM_REAL_NET ZMAILER_BUILD; \
	unshare -m -n --propagation private sh -c 'ip link set lo up; exec "$$@"' sh \
	    $(PYTHON3) $(abs_top_srcdir)/tests/bench/beside.py $(PEERSFLAGS) $(PEERS); \
	exit $$?	# else unshare may take the place of the shell, whose network is asked for
.PHONY: bench-router
bench-router: tests/bench/router
	@for what in tables plan headers hooks list; do tests/bench/router $$what; done
.PHONY: bench-list
bench-list: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/list.py
.PHONY: bench-backlog bench-estimates bench-feedback bench-fair bench-desk
bench-desk: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/desk.py
bench-fair: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/fair.py
bench-backlog: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/backlog.py 1000 10000 100000 10000x100 1000000
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/backlog.py --drain --beside 100000
bench-estimates: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/estimates.py --steps 240
bench-feedback: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/feedback.py
