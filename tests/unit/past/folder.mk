# unit tests of libzm/past
if HAVE_CRITERION
check_PROGRAMS += tests/unit/past/unit-past
SHORT_TESTS += tests/unit/past/unit-past
tests_unit_past_unit_past_SOURCES = tests/unit/past/test_trail.c
tests_unit_past_unit_past_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_past_unit_past_LDADD = $(ZM_LIBS) $(ZSTD_LIBS) $(CRITERION_LIBS)
endif
