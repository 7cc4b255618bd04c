# unit tests of libzm/conf
if HAVE_CRITERION
check_PROGRAMS += tests/unit/conf/unit-conf
SHORT_TESTS += tests/unit/conf/unit-conf
tests_unit_conf_unit_conf_SOURCES = \
	tests/unit/conf/conf_case.c tests/unit/conf/conf_case.h \
	tests/unit/conf/test_cluster.c \
	tests/unit/conf/test_edit.c \
	tests/unit/conf/test_errors.c \
	tests/unit/conf/test_files.c \
	tests/unit/conf/test_legacy.c \
	tests/unit/conf/test_resolver.c \
	tests/unit/conf/test_load.c tests/unit/conf/test_record.c \
	tests/unit/conf/test_show.c \
	tests/unit/conf/test_snapshot.c \
	tests/unit/conf/test_timeouts.c \
	tests/unit/conf/test_tls.c tests/unit/tls/made.c \
	tests/unit/conf/test_objective.c tests/unit/conf/test_zone.c
tests_unit_conf_unit_conf_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_conf_unit_conf_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
