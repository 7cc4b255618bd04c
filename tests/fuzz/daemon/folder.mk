# fuzz targets of libzm/daemon, of libzm/mail/table and libzm/journal
fuzz_targets += tests/fuzz/fuzz-conf tests/fuzz/fuzz-table
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/daemon/fuzz_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_conf_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_conf_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_table_SOURCES = tests/fuzz/daemon/fuzz_table.c $(FUZZ_MAIN)
tests_fuzz_fuzz_table_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_table_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-snapshot
tests_fuzz_fuzz_snapshot_SOURCES = tests/fuzz/daemon/fuzz_snapshot.c $(FUZZ_MAIN)
tests_fuzz_fuzz_snapshot_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_snapshot_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-history
tests_fuzz_fuzz_history_SOURCES = tests/fuzz/daemon/fuzz_history.c $(FUZZ_MAIN)
tests_fuzz_fuzz_history_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_history_LDADD = $(ZM_LIBS)
