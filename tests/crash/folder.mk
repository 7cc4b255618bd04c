# crash - `make crash` runs the whole matrix, make check a sample of it
EXTRA_DIST += tests/crash/nth.c tests/crash/home.c tests/crash/control_lines.c \
	tests/crash/nth.h tests/crash/nth.py \
	tests/crash/crash.py tests/crash/box.py tests/crash/away.py \
	tests/crash/orders.py tests/crash/reroute.py tests/crash/cut_through.py \
	tests/crash/signed.py tests/crash/encoded.py tests/crash/judged.py \
	tests/crash/upgrade.py \
	tests/crash/restore.py tests/crash/queues.py tests/crash/verb.py \
	tests/crash/ledger.py tests/crash/power.py tests/crash/run-sample \
	tests/crash/boxes.py tests/crash/change.py tests/crash/crowd.py \
	tests/crash/test_nth.py
CLEANFILES += tests/crash/nth.so
tests/crash/nth.so: $(srcdir)/tests/crash/nth.c $(srcdir)/tests/crash/home.c $(srcdir)/tests/crash/control_lines.c $(srcdir)/tests/crash/nth.h
	@$(MKDIR_P) tests/crash
	$(AM_V_CCLD)$(CC) -shared -fPIC -O1 -g -D_GNU_SOURCE -o $@ $(srcdir)/tests/crash/nth.c $(srcdir)/tests/crash/home.c $(srcdir)/tests/crash/control_lines.c -ldl
# A library that is preloaded and AddressSanitizer do not go together: the
# sanitized build runs everything but this.
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/crash/run-sample
SHORT_TESTS += tests/crash/test_nth.py
check_PROGRAMS += tests/crash/nth-probe
tests_crash_nth_probe_SOURCES = tests/crash/nth_probe.c
check_DATA = tests/crash/nth.so
endif
endif
.PHONY: crash
crash: all tests/crash/nth.so
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/crash.py --all $(CRASHFLAGS)
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/orders.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/reroute.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/cut_through.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/signed.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/encoded.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/judged.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/upgrade.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/restore.py
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/queues.py
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/boxes.py --all
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/change.py
