# crash - `make crash` runs the scripts, `make proof` all workloads as one run
# that goes on where it ended; make check a sample
EXTRA_DIST += tests/crash/nth.c tests/crash/nth_log.c tests/crash/nth_where.c tests/crash/home.c \
	tests/crash/control_lines.c tests/crash/nth.h tests/crash/nth.py \
	tests/crash/crash.py tests/crash/box.py tests/crash/away.py \
	tests/crash/orders.py tests/crash/pieces.py tests/crash/reroute.py tests/crash/cut_through.py \
	tests/crash/signed.py tests/crash/encoded.py tests/crash/halves.py tests/crash/judged.py \
	tests/crash/upgrade.py tests/crash/matrix.py tests/crash/proof.py \
	tests/crash/replay.py tests/crash/moments/laid.py \
	tests/crash/moments/processes.py tests/crash/moments/recording.py \
	tests/crash/moments/works.py \
	tests/crash/restore.py tests/crash/queues.py tests/crash/verb.py \
	tests/crash/takeover.py \
	tests/crash/ledger.py tests/crash/power.py tests/crash/run-sample \
	tests/crash/boxes.py tests/crash/change.py tests/crash/crowd.py \
	tests/crash/test_nth.py tests/crash/bit_rot.py tests/crash/rows/settings.py \
	tests/crash/rows/fates.py tests/crash/rows/desk.py tests/crash/rows/told.py \
	tests/crash/disk/disk.py tests/crash/disk/disk_log.py \
	tests/crash/disk/disk_story.py tests/crash/disk/disklog.c \
	tests/crash/disk/nosync.c
CLEANFILES += tests/crash/nth.so tests/crash/proof.state \
	tests/crash/replay.state \
	tests/crash/disk/disklog tests/crash/disk/nosync.so
NTH_SOURCES = $(srcdir)/tests/crash/nth.c $(srcdir)/tests/crash/nth_log.c $(srcdir)/tests/crash/nth_where.c \
	$(srcdir)/tests/crash/home.c $(srcdir)/tests/crash/control_lines.c
tests/crash/nth.so: $(NTH_SOURCES) $(srcdir)/tests/crash/nth.h
	@$(MKDIR_P) tests/crash
	$(AM_V_CCLD)$(CC) -shared -fPIC -O1 -g -D_GNU_SOURCE -o $@ $(NTH_SOURCES) -ldl
# A library that is preloaded and AddressSanitizer do not go together: the
# sanitized build runs everything but this.
if !SANITIZE
if HAVE_PYTHON3
LONG_TESTS += tests/crash/run-sample
SHORT_TESTS += tests/crash/test_nth.py
check_PROGRAMS += tests/crash/nth-probe
tests_crash_nth_probe_SOURCES = tests/crash/nth_probe.c
tests_crash_nth_probe_LDADD =
check_DATA = tests/crash/nth.so
endif
endif
# Power cuts on real file systems: where libfuse3 is not, disk.py says so.
tests/crash/disk/disklog: $(srcdir)/tests/crash/disk/disklog.c
	@$(MKDIR_P) tests/crash/disk
	$(AM_V_CCLD)$(CC) -O1 -g -D_GNU_SOURCE -o $@ \
		$(srcdir)/tests/crash/disk/disklog.c \
		`$(PKG_CONFIG) --cflags --libs fuse3`
tests/crash/disk/nosync.so: $(srcdir)/tests/crash/disk/nosync.c
	@$(MKDIR_P) tests/crash/disk
	$(AM_V_CCLD)$(CC) -shared -fPIC -O1 -g -D_GNU_SOURCE -o $@ \
		$(srcdir)/tests/crash/disk/nosync.c -ldl
.PHONY: crash proof proof-replay proof-disks
DISK_MINUTES = 10
proof-disks: all tests/crash/disk/nosync.so
	-$(MAKE) -s tests/crash/disk/disklog
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/crash/disk/disk.py --planted --points 5
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) \
		$(srcdir)/tests/crash/disk/disk.py --minutes $(DISK_MINUTES) $(DISKFLAGS)
crash: all tests/crash/nth.so
	for name in crash orders pieces reroute cut_through signed encoded halves judged \
		upgrade restore queues takeover boxes change bit_rot; do \
		ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) \
			$(srcdir)/tests/crash/$$name.py --all $(CRASHFLAGS) || exit 1; \
	done
PROOF_MINUTES = 60
PROOF_WORKERS = 0
proof: all tests/crash/nth.so
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/proof.py \
		--minutes $(PROOF_MINUTES) --workers $(PROOF_WORKERS) $(PROOFFLAGS)
proof-replay: all tests/crash/nth.so
	ZMAILER_BUILD=$(abs_top_builddir) $(PYTHON3) $(srcdir)/tests/crash/replay.py \
		--minutes $(PROOF_MINUTES) --workers $(PROOF_WORKERS) $(PROOFFLAGS)
