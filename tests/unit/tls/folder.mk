# unit tests of libzm/tls
if HAVE_CRITERION
check_PROGRAMS += tests/unit/tls/unit-tls
SHORT_TESTS += tests/unit/tls/unit-tls
tests_unit_tls_unit_tls_SOURCES = \
	tests/unit/tls/test_link.c tests/unit/tls/test_keys.c \
	tests/unit/tls/test_client_stream.c tests/unit/tls/test_dkim.c tests/unit/tls/test_verify.c tests/unit/tls/link_case.h \
	tests/unit/tls/made.c tests/unit/tls/made.h
tests_unit_tls_unit_tls_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_tls_unit_tls_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
