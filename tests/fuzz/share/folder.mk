# fuzz targets of share
fuzz_targets += tests/fuzz/fuzz-share_words
tests_fuzz_fuzz_share_words_SOURCES = tests/fuzz/share/fuzz_share_words.c $(FUZZ_MAIN)
tests_fuzz_fuzz_share_words_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_share_words_LDADD = share/libshare.a $(ZM_LIBS) $(PGSQL_LIBS)
