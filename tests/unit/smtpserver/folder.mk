# unit tests of smtpserver
if HAVE_CRITERION
check_PROGRAMS += tests/unit/smtpserver/unit-smtpserver
SHORT_TESTS += tests/unit/smtpserver/unit-smtpserver
tests_unit_smtpserver_unit_smtpserver_SOURCES = \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h \
	tests/unit/smtpserver/faults.c tests/unit/smtpserver/faults.h \
	tests/unit/smtpserver/client_case.c \
	tests/unit/smtpserver/client_case.h \
	tests/unit/smtpserver/test_ask.c \
	tests/unit/smtpserver/test_barred.c tests/unit/smtpserver/test_blocks.c \
	tests/unit/smtpserver/test_clients.c \
	tests/unit/smtpserver/test_commands.c \
	tests/unit/smtpserver/test_counters.c \
	tests/unit/smtpserver/test_listener.c \
	tests/unit/smtpserver/test_etrn.c \
	tests/unit/smtpserver/test_faults.c \
	tests/unit/smtpserver/test_holds.c tests/unit/smtpserver/test_key_files.c \
	tests/unit/tls/made.c \
	tests/unit/smtpserver/test_judge.c \
	tests/unit/smtpserver/test_late.c \
	tests/unit/smtpserver/test_limits.c \
	tests/unit/smtpserver/test_confine.c \
	tests/unit/smtpserver/test_milter.c tests/unit/smtpserver/test_talk.c \
	tests/unit/smtpserver/test_peers.c \
	tests/unit/smtpserver/test_policy.c \
	tests/unit/smtpserver/test_policyd.c \
	tests/unit/smtpserver/test_recipient.c \
	tests/unit/smtpserver/test_copy.c tests/unit/smtpserver/test_cut_through.c \
	tests/unit/smtpserver/test_again.c \
	tests/unit/smtpserver/test_rehearsal.c \
	tests/unit/smtpserver/test_session.c \
	tests/unit/smtpserver/test_login.c tests/unit/smtpserver/test_password.c \
	tests/unit/smtpserver/test_shed.c \
	tests/unit/smtpserver/test_smuggling.c \
	tests/unit/smtpserver/test_space.c \
	tests/unit/smtpserver/test_worker.c
tests_unit_smtpserver_unit_smtpserver_CPPFLAGS = $(AM_CPPFLAGS) \
	-I$(srcdir)/tests/unit/smtpserver
tests_unit_smtpserver_unit_smtpserver_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_smtpserver_unit_smtpserver_LDADD = \
	smtpserver/libsmtpserver.a $(ZM_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS) \
	$(CRITERION_LIBS)
endif
