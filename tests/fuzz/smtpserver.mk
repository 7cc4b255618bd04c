# fuzz targets of smtpserver
fuzz_targets += tests/fuzz/fuzz-session
tests_fuzz_fuzz_session_SOURCES = tests/fuzz/fuzz_session.c \
	tests/unit/smtpserver/house.c tests/unit/smtpserver/house.h $(FUZZ_MAIN)
tests_fuzz_fuzz_session_CPPFLAGS = $(AM_CPPFLAGS)
tests_fuzz_fuzz_session_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_session_LDADD = smtpserver/libsmtpserver.a $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/session.dict \
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
