# unit tests of resolver
if HAVE_CRITERION
check_PROGRAMS += tests/unit/resolver/unit-resolver
SHORT_TESTS += tests/unit/resolver/unit-resolver
tests_unit_resolver_unit_resolver_SOURCES = \
	tests/unit/resolver/test_query.c tests/unit/resolver/test_response.c
tests_unit_resolver_unit_resolver_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_resolver_unit_resolver_LDADD = resolver/libresolver.a $(ZM_LIBS) $(CRITERION_LIBS)
endif
