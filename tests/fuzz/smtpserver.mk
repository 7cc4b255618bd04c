# fuzz targets of smtpserver
fuzz_targets += tests/fuzz/fuzz-session
tests_fuzz_fuzz_session_SOURCES = tests/fuzz/fuzz_session.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_session_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_session_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_session_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/session.dict \
	tests/fuzz/corpus/session/bdat \
	tests/fuzz/corpus/session/bdat-refused \
	tests/fuzz/corpus/session/xclient \
	tests/fuzz/corpus/session/dsn \
	tests/fuzz/corpus/session/eof-in-data \
	tests/fuzz/corpus/session/freeze \
	tests/fuzz/corpus/session/helo \
	tests/fuzz/corpus/session/http \
	tests/fuzz/corpus/session/long-line \
	tests/fuzz/corpus/session/loop \
	tests/fuzz/corpus/session/nul-and-bare-cr \
	tests/fuzz/corpus/session/nul \
	tests/fuzz/corpus/session/pipelined-twice \
	tests/fuzz/corpus/session/plain \
	tests/fuzz/corpus/session/relay \
	tests/fuzz/corpus/session/smuggle-cr \
	tests/fuzz/corpus/session/smuggle-lf \
	tests/fuzz/corpus/session/too-big \
	tests/fuzz/corpus/session/too-many \
	tests/fuzz/corpus/session/verbs
fuzz_targets += tests/fuzz/fuzz-bdat
tests_fuzz_fuzz_bdat_SOURCES = tests/fuzz/fuzz_bdat.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_bdat_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_bdat_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_bdat_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/bdat/binary \
	tests/fuzz/corpus/bdat/binary-chunks \
	tests/fuzz/corpus/bdat/binary-no-end \
	tests/fuzz/corpus/bdat/binary-no-header \
	tests/fuzz/corpus/bdat/text \
	tests/fuzz/corpus/bdat/text-bare-lf \
	tests/fuzz/corpus/bdat/text-chunks \
	tests/fuzz/corpus/bdat/text-cr-at-end
fuzz_targets += tests/fuzz/fuzz-mail
tests_fuzz_fuzz_mail_SOURCES = tests/fuzz/fuzz_mail.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_mail_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_mail_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_mail_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/mail/auth \
	tests/fuzz/corpus/mail/binary \
	tests/fuzz/corpus/mail/by \
	tests/fuzz/corpus/mail/by-r \
	tests/fuzz/corpus/mail/dsn \
	tests/fuzz/corpus/mail/hold \
	tests/fuzz/corpus/mail/null \
	tests/fuzz/corpus/mail/plain \
	tests/fuzz/corpus/mail/priority \
	tests/fuzz/corpus/mail/route \
	tests/fuzz/corpus/mail/until \
	tests/fuzz/corpus/mail/utf8

fuzz_targets += tests/fuzz/fuzz-milter
tests_fuzz_fuzz_milter_SOURCES = tests/fuzz/fuzz_milter.c $(FUZZ_MAIN)
tests_fuzz_fuzz_milter_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_milter_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/milter
fuzz_targets += tests/fuzz/fuzz-login
tests_fuzz_fuzz_login_SOURCES = tests/fuzz/fuzz_login.c $(FUZZ_MAIN)
tests_fuzz_fuzz_login_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_login_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/login
fuzz_targets += tests/fuzz/fuzz-rehearsal
tests_fuzz_fuzz_rehearsal_SOURCES = tests/fuzz/fuzz_rehearsal.c $(FUZZ_MAIN)
tests_fuzz_fuzz_rehearsal_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_rehearsal_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_rehearsal_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/rehearsal
fuzz_targets += tests/fuzz/fuzz-policyd
tests_fuzz_fuzz_policyd_SOURCES = tests/fuzz/fuzz_policyd.c $(FUZZ_MAIN)
tests_fuzz_fuzz_policyd_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_policyd_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_policyd_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/policyd
fuzz_targets += tests/fuzz/fuzz-talk
tests_fuzz_fuzz_talk_SOURCES = tests/fuzz/fuzz_talk.c $(FUZZ_MAIN)
tests_fuzz_fuzz_talk_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_talk_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_talk_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/talk
