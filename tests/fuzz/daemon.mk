# fuzz targets of libzm/daemon, and of libzm/mail/table
check_PROGRAMS += tests/fuzz/fuzz-conf tests/fuzz/fuzz-table
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/fuzz_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_conf_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_conf_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_table_SOURCES = tests/fuzz/fuzz_table.c $(FUZZ_MAIN)
tests_fuzz_fuzz_table_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_table_LDADD = $(ZM_LIBS)
if !FUZZ
TESTS += tests/fuzz/fuzz-conf tests/fuzz/fuzz-table
endif
EXTRA_DIST += tests/fuzz/corpus/conf/bad tests/fuzz/corpus/conf/edges \
	tests/fuzz/corpus/conf/example tests/fuzz/corpus/conf/good \
	tests/fuzz/corpus/table/blank tests/fuzz/corpus/table/mixed \
	tests/fuzz/corpus/table/nets tests/fuzz/corpus/table/nul
