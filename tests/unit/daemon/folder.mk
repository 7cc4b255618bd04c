# unit tests of libzm/daemon
if HAVE_CRITERION
check_PROGRAMS += tests/unit/daemon/unit-daemon
SHORT_TESTS += tests/unit/daemon/unit-daemon
tests_unit_daemon_unit_daemon_SOURCES = \
	tests/unit/daemon/test_carriers.c \
	tests/unit/daemon/test_child.c tests/unit/daemon/test_given.c \
	tests/unit/daemon/test_dovecot_lines.c \
	tests/unit/daemon/test_hook_frame.c \
	tests/unit/daemon/test_sandbox.c tests/unit/daemon/test_sidecar.c
tests_unit_daemon_unit_daemon_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_daemon_unit_daemon_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
