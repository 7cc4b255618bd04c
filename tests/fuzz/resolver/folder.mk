# fuzz targets of resolver
fuzz_targets += tests/fuzz/fuzz-query
tests_fuzz_fuzz_query_SOURCES = tests/fuzz/resolver/fuzz_query.c $(FUZZ_MAIN)
tests_fuzz_fuzz_query_LDADD = resolver/libresolver.a $(FUZZ_LIBS)
