# unit tests of transports
if HAVE_CRITERION
check_PROGRAMS += tests/unit/transports/unit-transports
SHORT_TESTS += tests/unit/transports/unit-transports
tests_unit_transports_unit_transports_SOURCES = \
	tests/unit/transports/script.c tests/unit/transports/script.h \
	tests/unit/transports/client_lab.h \
	tests/unit/transports/certs.c tests/unit/transports/certs.h \
	tests/unit/transports/test_client.c \
	tests/unit/transports/test_client_tls.c \
	tests/unit/transports/test_dane.c tests/unit/transports/test_sts.c \
	tests/unit/transports/test_client_form.c \
	tests/unit/transports/test_client_matrix.c \
	tests/unit/transports/test_client_bounds.c \
	tests/unit/transports/test_client_idle.c \
	tests/unit/transports/test_client_auth.c \
	tests/unit/transports/test_provider.c \
	tests/unit/transports/box.c tests/unit/transports/box.h \
	tests/unit/transports/test_forward.c \
	tests/unit/transports/test_quota.c \
	tests/unit/transports/test_berths.c \
	tests/unit/transports/test_sm.c tests/unit/transports/test_traps.c \
	tests/unit/transports/test_vacation.c \
	tests/unit/transports/test_mailbox.c \
	tests/unit/transports/test_pipe.c \
	tests/unit/transports/test_agent.c
tests_unit_transports_unit_transports_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_transports_unit_transports_LDADD = transports/smtp/libclient.a \
	transports/mailbox/libmailbox.a transports/error/liberror.a \
	transports/sm/libsm.a transports/pipe/libpipe.a transports/libagent.a $(ZM_LIBS) $(CRITERION_LIBS) -lpthread
endif
