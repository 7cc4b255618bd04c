# unit tests of libzm/origin
if HAVE_CRITERION
check_PROGRAMS += tests/unit/origin/unit-origin
SHORT_TESTS += tests/unit/origin/unit-origin
tests_unit_origin_unit_origin_SOURCES = \
	tests/unit/origin/answers_case.h tests/unit/origin/test_answers.c \
	tests/unit/origin/test_arc.c \
	tests/unit/origin/test_authres.c \
	tests/unit/origin/test_dkim.c tests/unit/origin/test_dkim_sign.c \
	tests/unit/origin/test_dkim2.c tests/unit/origin/test_dkim2_sign.c \
	tests/unit/origin/test_dmarc.c tests/unit/origin/test_dmarc_reports.c \
	tests/unit/origin/test_spf.c
tests_unit_origin_unit_origin_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_origin_unit_origin_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
