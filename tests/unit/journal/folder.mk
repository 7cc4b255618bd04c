# unit tests of libzm/journal
if HAVE_CRITERION
check_PROGRAMS += tests/unit/journal/unit-journal
SHORT_TESTS += tests/unit/journal/unit-journal
tests_unit_journal_unit_journal_SOURCES = \
	tests/unit/journal/test_counters.c tests/unit/journal/test_history.c \
	tests/unit/journal/test_progress.c \
	tests/unit/journal/test_neighbours.c tests/unit/journal/test_event.c
tests_unit_journal_unit_journal_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_journal_unit_journal_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
