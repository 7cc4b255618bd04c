# flows: make check runs all, `make flow FLOWS="session queue/hold tries"` a
# folder of them and two by name
FLOWS =
EXTRA_DIST += tests/flow tests/import tests/lib tests/spools
if HAVE_PYTHON3
SHORT_TESTS += tests/flow/run-flows tests/flow/smuggle.py tests/flow/reloads.py tests/flow/listeners.py \
	tests/flow/upgrade_live.py tests/flow/space.py tests/flow/breakout.py tests/flow/pipes.py \
	tests/flow/notify/posts.py tests/flow/notify/away.py tests/flow/nodes/desk.py tests/flow/nodes/publish.py \
	tests/flow/nodes/desk_web.py
LONG_TESTS += tests/flow/web.py tests/flow/web_live.py
# texts, installations and completion are nothing for a sanitizer; and what the
# others start most, verbs, it sees in the flows, units and fuzz targets
if !SANITIZE
SHORT_TESTS += tests/flow/promises.py tests/flow/completion.py tests/flow/readme.py \
	tests/flow/auth_page.py tests/flow/mistakes.py tests/flow/stopped.py tests/flow/imports.py tests/flow/patience.py \
	tests/flow/nodes/publish_deaths.py \
	tests/flow/audit_nightly.py tests/lib/test_suites.py tests/lib/test_setup.py
LONG_TESTS += tests/flow/examples.py tests/flow/web_orders.py tests/flow/web_searches.py tests/flow/web_learn.py tests/flow/web_roles.py \
	tests/flow/web_taken.py tests/flow/web_logins.py tests/flow/web_send.py \
	tests/flow/web_send_keys.py \
	tests/flow/install_guard.py tests/flow/install_page.py tests/flow/uninstall.py \
	tests/flow/prefix.py
endif
endif
if HAVE_PYTHON3
check_PROGRAMS += tests/flow/intruder
tests_flow_intruder_SOURCES = tests/flow/intruder.c
tests_flow_intruder_LDADD =
endif
# an upgrade as it is shown in doc/TESTING.md; by hand, some minutes
.PHONY: upgrade-proof
upgrade-proof: all
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	$(PYTHON3) $(srcdir)/tests/flow/upgrade_live.py --proof 1000 10
# flow-real: those that move no clock, which are most
.PHONY: flow flow-real
flow-real: all
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	$(PYTHON3) $(srcdir)/tests/flow/runner.py --real $(FLOWS)
flow: all
	ZMAILER_SRC=$(abs_top_srcdir) ZMAILER_BUILD=$(abs_top_builddir) \
	$(PYTHON3) $(srcdir)/tests/flow/runner.py $(FLOWS)
