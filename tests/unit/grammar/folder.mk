# unit tests of libzm/grammar: one binary, one file a source file
if HAVE_CRITERION
check_PROGRAMS += tests/unit/grammar/unit-grammar
SHORT_TESTS += tests/unit/grammar/unit-grammar
tests_unit_grammar_unit_grammar_SOURCES = \
	tests/unit/grammar/test_path.c \
	tests/unit/grammar/test_command.c \
	tests/unit/grammar/test_dot.c \
	tests/unit/grammar/test_header.c \
	tests/unit/grammar/test_xtext.c \
	tests/unit/grammar/test_dsn.c \
	tests/unit/grammar/test_units.c tests/unit/grammar/test_tar.c \
	tests/unit/grammar/test_sts.c tests/unit/grammar/test_tlsa.c \
	tests/unit/grammar/test_crlf.c \
	tests/unit/grammar/test_date.c tests/unit/grammar/test_proxy.c \
	tests/unit/grammar/test_selector.c \
	tests/unit/grammar/test_net.c tests/unit/grammar/test_http.c \
	tests/unit/grammar/test_mailq.c \
	tests/unit/grammar/test_mailq_show.c \
	tests/unit/grammar/test_reply.c tests/unit/grammar/test_resp.c tests/unit/grammar/test_rua.c \
	tests/unit/grammar/test_base64.c tests/unit/grammar/test_scram.c \
	tests/unit/grammar/test_mime.c \
	tests/unit/grammar/test_mime_parts.c \
	tests/unit/grammar/abnf.h tests/unit/grammar/abnf.c \
	tests/unit/grammar/abnf_mail.h tests/unit/grammar/test_stable.c \
	tests/unit/grammar/test_stable_mime.c \
	tests/unit/grammar/test_isemail.c \
	tests/unit/grammar/isemail_rows_1.h \
	tests/unit/grammar/isemail_rows_2.h
tests_unit_grammar_unit_grammar_CFLAGS = $(AM_CFLAGS) $(CRITERION_CFLAGS)
tests_unit_grammar_unit_grammar_LDADD = $(ZM_LIBS) $(CRITERION_LIBS)
endif
EXTRA_DIST += tests/unit/grammar/isemail_rows.py \
	tests/unit/grammar/isemail.LICENSE.md
