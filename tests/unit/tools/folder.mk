# unit tests of tools: the supervisor with testd as all of its programs
if HAVE_CRITERION
check_PROGRAMS += tests/unit/tools/unit-tools tests/unit/tools/testd
SHORT_TESTS += tests/unit/tools/unit-tools
tests_unit_tools_unit_tools_SOURCES = tests/unit/tools/test_supervisor.c \
	tests/unit/tools/test_answers.c tests/unit/tools/test_authors.c tests/unit/tools/test_import.c tests/unit/tools/test_import_exim.c \
	tests/unit/tools/test_import_opensmtpd.c tests/unit/tools/test_import_sendmail.c \
	tests/unit/tools/test_import_queue.c tests/unit/tools/test_forward.c tests/unit/tools/test_handover.c \
	tests/unit/tools/test_scrape.c tests/unit/tools/test_area.c \
	tests/unit/tools/test_arguments.c tests/unit/tools/test_audit.c \
	tests/unit/tools/test_launcher_command.c \
	tests/unit/tools/test_change.c tests/unit/tools/test_backup.c \
	tests/unit/tools/test_elsewhere.c tests/unit/tools/test_verbs.c tests/unit/tools/test_conf_verbs.c \
	tests/unit/tools/test_journal.c tests/unit/tools/test_progress.c \
	tests/unit/tools/test_keep.c tests/unit/tools/test_spool_verbs.c tests/unit/tools/test_selection.c tests/unit/tools/test_sessions.c \
	tests/unit/tools/test_review.c tests/unit/tools/test_report.c tests/unit/tools/test_publish.c \
	tests/unit/tools/test_sink.c tests/unit/tools/test_view.c \
	tests/unit/tools/test_caller.c tests/unit/tools/test_mailq_flags.c tests/unit/tools/test_batches.c \
	tests/unit/tools/test_vet.c \
	tests/unit/tools/test_held.c tools/nodes/gather.c tools/nodes/remote.c \
	tests/unit/mail/fixture.c tests/unit/mail/fixture.h \
	tests/unit/tools/instance.c tests/unit/tools/instance.h \
	tests/unit/tools/spool_case.h
tests_unit_tools_unit_tools_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/unit/tools
tests_unit_tools_unit_tools_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_tools_unit_tools_LDADD = tools/libtools.a $(ZM_LIBS) $(ZSTD_LIBS) $(CRITERION_LIBS)

tests_unit_tools_testd_SOURCES = tests/unit/tools/testd.c
tests_unit_tools_testd_LDADD = $(ZM_LIBS)
endif
