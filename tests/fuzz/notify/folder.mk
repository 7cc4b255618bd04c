# fuzz targets of notify
fuzz_targets += tests/fuzz/fuzz-mark
tests_fuzz_fuzz_mark_SOURCES = tests/fuzz/notify/fuzz_mark.c $(FUZZ_MAIN)
tests_fuzz_fuzz_mark_LDADD = notify/libnotify.a $(FUZZ_LIBS) $(ZSTD_LIBS)
