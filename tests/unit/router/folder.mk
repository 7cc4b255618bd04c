# unit tests of router
if HAVE_CRITERION
check_PROGRAMS += tests/unit/router/unit-router
SHORT_TESTS += tests/unit/router/unit-router
tests_unit_router_unit_router_SOURCES = \
	tests/unit/router/helper.c tests/unit/router/helper.h \
	tests/unit/router/test_aliases.c \
	tests/unit/router/test_check.c \
	tests/unit/router/test_header_check.c \
	tests/unit/router/test_header_edit.c \
	tests/unit/router/test_pool.c tests/unit/router/test_looks.c \
	tests/unit/router/test_key_cache.c \
	tests/unit/router/test_local.c tests/unit/router/test_expand.c \
	tests/unit/router/test_srs.c tests/unit/router/test_stream.c \
	tests/unit/router/test_message.c \
	tests/unit/router/test_queue.c \
	tests/unit/router/test_rewrite.c \
	tests/unit/router/test_route.c
tests_unit_router_unit_router_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(srcdir)/tests/unit/router
tests_unit_router_unit_router_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_router_unit_router_LDADD = router/librouter.a $(ZM_LIBS) \
	$(CRITERION_LIBS)
endif
