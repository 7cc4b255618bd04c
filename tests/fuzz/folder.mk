# fuzz targets: with --enable-fuzz libFuzzer programs; else each replays its
# seed corpus tests/fuzz/corpus/NAME in make check, and runs what mutate.c makes
# of it for a moment.  A new target NAME of a
# part is these lines in the folder.mk of the part's folder here, and seeds in
# corpus/NAME:
#
# fuzz_targets += tests/fuzz/fuzz-NAME
# tests_fuzz_fuzz_NAME_SOURCES = tests/fuzz/PART/fuzz_NAME.c $(FUZZ_MAIN)
#
# One that tests a program's library says so:
#
# tests_fuzz_fuzz_NAME_LDADD = router/librouter.a $(FUZZ_LIBS)
#
# A dictionary, if any, is NAME.dict beside it.
fuzz_targets =
if FUZZ
FUZZ_MAIN = tests/fuzz/fuzz.h
else
FUZZ_MAIN = tests/fuzz/fuzz.h tests/fuzz/replay.c tests/fuzz/mutate.c tests/fuzz/mutate.h
endif
FUZZ_LIBS = $(FUZZ_LINK) $(ZM_LIBS)
# What automake links where a program has no _LDADD: only fuzz targets have none.
LDADD = $(FUZZ_LIBS)
include tests/fuzz/grammar/folder.mk
include tests/fuzz/origin/folder.mk
include tests/fuzz/mail/folder.mk
include tests/fuzz/daemon/folder.mk
include tests/fuzz/smtpserver/folder.mk
include tests/fuzz/router/folder.mk
include tests/fuzz/scheduler/folder.mk
include tests/fuzz/transports/folder.mk
include tests/fuzz/share/folder.mk
include tests/fuzz/resolver/folder.mk
include tests/fuzz/tables/folder.mk
include tests/fuzz/tools/folder.mk
include tests/fuzz/web/folder.mk
include tests/fuzz/notify/folder.mk
check_PROGRAMS += $(fuzz_targets)
if !FUZZ
SHORT_TESTS += $(fuzz_targets)
endif

# Each target for FUZZ_SECONDS; what it finds new stays in tests/fuzz/found/.
FUZZ_SECONDS = 60
EXTRA_DIST += tests/fuzz/run.sh tests/fuzz/corpus
if FUZZ
fuzz: $(fuzz_targets)
	ZMAILER_SRC=$(abs_top_srcdir) sh $(srcdir)/tests/fuzz/run.sh \
		$(FUZZ_SECONDS) $(fuzz_targets)
else
fuzz:
	@echo "make fuzz needs a build made for it:" >&2
	@echo "  configure CC=clang --enable-fuzz --enable-sanitize" >&2
	@exit 1
endif

# All of them in turn, FUZZ_TURN_SECONDS each, for FUZZ_HOURS.
FUZZ_HOURS = 8
FUZZ_TURN_SECONDS = 60
EXTRA_DIST += tests/fuzz/night.sh
fuzz-night: $(fuzz_targets)
	ZMAILER_SRC=$(abs_top_srcdir) sh $(srcdir)/tests/fuzz/night.sh \
		$(FUZZ_HOURS) $(FUZZ_TURN_SECONDS) $(fuzz_targets)
.PHONY: fuzz fuzz-night
