# fuzz targets of smtpserver
fuzz_targets += tests/fuzz/fuzz-session
tests_fuzz_fuzz_session_SOURCES = tests/fuzz/smtpserver/fuzz_session.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_session_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_session_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
EXTRA_DIST += tests/fuzz/smtpserver/session.dict
fuzz_targets += tests/fuzz/fuzz-bdat
tests_fuzz_fuzz_bdat_SOURCES = tests/fuzz/smtpserver/fuzz_bdat.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_bdat_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_bdat_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-mail
tests_fuzz_fuzz_mail_SOURCES = tests/fuzz/smtpserver/fuzz_mail.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_mail_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_mail_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-milter
tests_fuzz_fuzz_milter_SOURCES = tests/fuzz/smtpserver/fuzz_milter.c $(FUZZ_MAIN)
tests_fuzz_fuzz_milter_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-judge
tests_fuzz_fuzz_judge_SOURCES = tests/fuzz/smtpserver/fuzz_judge.c $(FUZZ_MAIN)
tests_fuzz_fuzz_judge_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-login
tests_fuzz_fuzz_login_SOURCES = tests/fuzz/smtpserver/fuzz_login.c $(FUZZ_MAIN)
tests_fuzz_fuzz_login_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-rehearsal
tests_fuzz_fuzz_rehearsal_SOURCES = tests/fuzz/smtpserver/fuzz_rehearsal.c $(FUZZ_MAIN)
tests_fuzz_fuzz_rehearsal_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_rehearsal_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-again
tests_fuzz_fuzz_again_SOURCES = tests/fuzz/smtpserver/fuzz_again.c $(FUZZ_MAIN)
tests_fuzz_fuzz_again_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_again_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-policyd
tests_fuzz_fuzz_policyd_SOURCES = tests/fuzz/smtpserver/fuzz_policyd.c $(FUZZ_MAIN)
tests_fuzz_fuzz_policyd_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_policyd_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-talk
tests_fuzz_fuzz_talk_SOURCES = tests/fuzz/smtpserver/fuzz_talk.c $(FUZZ_MAIN)
tests_fuzz_fuzz_talk_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_talk_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-greylist
tests_fuzz_fuzz_greylist_SOURCES = tests/fuzz/smtpserver/fuzz_greylist.c $(FUZZ_MAIN)
tests_fuzz_fuzz_greylist_LDADD = smtpserver/libsmtpserver.a $(FUZZ_LIBS)
