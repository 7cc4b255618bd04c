# unit tests of sts
if HAVE_CRITERION
check_PROGRAMS += tests/unit/sts/unit-sts
SHORT_TESTS += tests/unit/sts/unit-sts
tests_unit_sts_unit_sts_SOURCES = tests/unit/sts/test_shelf.c
tests_unit_sts_unit_sts_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_sts_unit_sts_LDADD = sts/libsts.a $(ZM_LIBS) $(CRITERION_LIBS)
endif
