# bench - `make bench` prints rates, CPU, system calls; BENCH="relay local" BENCHFLAGS=--json
noinst_PROGRAMS += tests/bench/load tests/bench/sink tests/bench/router \
	tests/bench/floor tests/bench/idle tests/bench/milter tests/bench/spawn \
	tests/bench/nodes
tests_bench_floor_SOURCES = tests/bench/floor.c tests/bench/bench.h
tests_bench_floor_LDADD =
tests_bench_spawn_SOURCES = tests/bench/spawn.c tests/bench/bench.h
tests_bench_spawn_LDADD =
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
tests_bench_nodes_SOURCES = tests/bench/nodes.c
tests_bench_nodes_LDADD = share/libshare.a $(ZM_LIBS) $(PGSQL_LIBS)
EXTRA_DIST += tests/bench/backlog.py tests/bench/desk.py tests/bench/estimates.py tests/bench/fair.py tests/bench/feedback.py tests/bench/bench.py tests/bench/costs.py tests/bench/floors.py tests/bench/list.py tests/bench/live.py tests/bench/million.py tests/bench/names.py tests/bench/orders.py tests/bench/cluster.py tests/bench/nodes.py tests/bench/plots.py tests/bench/test_plots.py tests/bench/sessions.py tests/bench/beside.py tests/bench/signed.py tests/bench/driver/zmailer
BENCH = relay local fanout
# rows as JSON, of these and of bench-peers, in the order in which they came
BENCH_RESULTS = $(abs_top_builddir)/tests/bench/results
.PHONY: bench bench-plots bench-million
bench: all
	ZM_BENCH_RESULTS=$(BENCH_RESULTS) ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/bench.py $(BENCHFLAGS) $(BENCH)
bench-plots:
	@test -s $(BENCH_RESULTS) || { echo "first make bench, or make bench-peers" >&2; exit 1; }
	$(PYTHON3) $(srcdir)/tests/bench/plots.py $(BENCH_RESULTS) tests/bench/plots
bench-million: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/million.py --domains 100
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/million.py --domains 1000
if HAVE_PYTHON3
SHORT_TESTS += tests/bench/test_plots.py
endif
.PHONY: profile
profile: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/costs.py
.PHONY: bench-peers
PEERS = relay relaytls backlog slow100 sendmail
# beside Postfix, as root: in a network of its own, Postfix in a root of its own
bench-peers: all
	ZM_REAL_NET=/proc/$$$$/ns/net ZMAILER_BUILD=$(abs_top_builddir); \
	ZM_BENCH_RESULTS=$(BENCH_RESULTS); \
	export ZM_REAL_NET ZMAILER_BUILD ZM_BENCH_RESULTS; \
	unshare -m -n --propagation private sh -c 'ip link set lo up; exec "$$@"' sh \
	    $(PYTHON3) $(abs_top_srcdir)/tests/bench/beside.py $(PEERSFLAGS) $(PEERS); \
	exit $$?	# else unshare may take the place of the shell, whose network is asked for
.PHONY: bench-names
NAMES = relay local
# the same, with 1,000,000 names in a PostgreSQL of its own
bench-names: all
	ZM_REAL_NET=/proc/$$$$/ns/net ZMAILER_BUILD=$(abs_top_builddir); \
	ZM_BENCH_RESULTS=$(BENCH_RESULTS); \
	export ZM_REAL_NET ZMAILER_BUILD ZM_BENCH_RESULTS; \
	unshare -m -n --propagation private sh -c 'ip link set lo up; exec "$$@"' sh \
	    $(PYTHON3) $(abs_top_srcdir)/tests/bench/names.py $(NAMESFLAGS) $(NAMES); \
	exit $$?
.PHONY: bench-cluster
# what shared limits and copies cost, with a Redis and a PostgreSQL of its own
bench-cluster: all
	ZM_REAL_NET=/proc/$$$$/ns/net ZMAILER_BUILD=$(abs_top_builddir); \
	ZM_BENCH_RESULTS=$(BENCH_RESULTS); \
	export ZM_REAL_NET ZMAILER_BUILD ZM_BENCH_RESULTS; \
	unshare -m -n --propagation private sh -c 'ip link set lo up; exec "$$@"' sh \
	    $(PYTHON3) $(abs_top_srcdir)/tests/bench/cluster.py $(CLUSTERFLAGS); \
	exit $$?
.PHONY: bench-nodes
# 100 nodes, 1,000,000 keys, 10,000 messages/s, in a Redis of its own
bench-nodes: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/nodes.py $(NODESFLAGS)
.PHONY: bench-sessions
# as root: 10,000 hosts in a network of their own
bench-sessions: all
	ZMAILER_BUILD=$(abs_top_builddir); export ZMAILER_BUILD; \
	unshare -n sh -c 'ip link set lo up; exec "$$@"' sh \
	    $(PYTHON3) $(abs_top_srcdir)/tests/bench/sessions.py --count 10000 --runs 1
.PHONY: bench-router
bench-router: tests/bench/router
	@for what in tables plan headers hooks list; do tests/bench/router $$what; done
.PHONY: bench-list
bench-list: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/list.py
.PHONY: bench-backlog bench-estimates bench-feedback bench-fair bench-desk bench-live
bench-live: all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/bench/live.py
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
