# unit tests of libzm/mail
if HAVE_CRITERION
check_PROGRAMS += tests/unit/mail/unit-mail
SHORT_TESTS += tests/unit/mail/unit-mail
tests_unit_mail_unit_mail_SOURCES = \
	tests/unit/mail/fixture.c tests/unit/mail/fixture.h \
	tests/unit/mail/test_verdict.c tests/unit/mail/test_classify.c \
	tests/unit/mail/test_terms.c tests/unit/mail/test_state.c \
	tests/unit/mail/test_envelope.c tests/unit/mail/test_first_line.c \
	tests/unit/mail/test_names.c \
	tests/unit/mail/test_control_file.c \
	tests/unit/mail/test_control_records.c tests/unit/mail/control_case.h tests/unit/mail/test_orders.c \
	tests/unit/mail/test_form.c tests/unit/mail/test_queue_count.c \
	tests/unit/mail/test_draft.c tests/unit/mail/test_spool.c \
	tests/unit/mail/test_spool_refused.c tests/unit/mail/spool_case.h \
	tests/unit/mail/test_recover.c \
	tests/unit/mail/test_recover_routed.c tests/unit/mail/test_recover_pair.c tests/unit/mail/test_recover_beside.c \
	tests/unit/mail/recover_case.h \
	tests/unit/mail/test_scan.c tests/unit/mail/test_copy.c tests/unit/mail/test_takeover.c tests/unit/mail/test_imports.c \
	tests/unit/mail/test_whole.c tests/unit/mail/test_encode.c \
	tests/unit/mail/test_table.c tests/unit/mail/test_table_types.c \
	tests/unit/mail/test_manual.c \
	tests/unit/mail/test_window.c tests/fuzz/mail/windows.c tests/fuzz/mail/windows.h
tests_unit_mail_unit_mail_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_mail_unit_mail_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
