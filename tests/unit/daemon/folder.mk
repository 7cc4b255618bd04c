# unit tests of libzm/daemon and of libzm/mail/table
if HAVE_CRITERION
check_PROGRAMS += tests/unit/daemon/unit-conf
TESTS += tests/unit/daemon/unit-conf
tests_unit_daemon_unit_conf_SOURCES = tests/unit/daemon/test_conf.c \
	tests/unit/daemon/test_child.c \
	tests/unit/daemon/test_sandbox.c \
	tests/unit/daemon/test_conf_edit.c \
	tests/unit/daemon/test_hook_frame.c \
	tests/unit/daemon/test_conf_zone.c \
	tests/unit/daemon/test_conf_legacy.c \
	tests/unit/daemon/conf_case.c tests/unit/daemon/conf_case.h \
	tests/unit/daemon/test_conf_errors.c \
	tests/unit/daemon/test_conf_files.c \
	tests/unit/daemon/test_conf_show.c \
	tests/unit/daemon/test_conf_timeouts.c \
	tests/unit/daemon/test_conf_tls.c tests/unit/io/tls_made.c \
	tests/unit/mail/test_table.c tests/unit/mail/test_table_types.c
tests_unit_daemon_unit_conf_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_daemon_unit_conf_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
