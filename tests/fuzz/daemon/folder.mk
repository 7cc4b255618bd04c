# fuzz targets of libzm/daemon, of libzm/mail/table, libzm/journal and libzm/io/consult
fuzz_targets += tests/fuzz/fuzz-conf tests/fuzz/fuzz-table
tests_fuzz_fuzz_conf_SOURCES = tests/fuzz/daemon/fuzz_conf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_table_SOURCES = tests/fuzz/daemon/fuzz_table.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-snapshot
tests_fuzz_fuzz_snapshot_SOURCES = tests/fuzz/daemon/fuzz_snapshot.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-history
tests_fuzz_fuzz_history_SOURCES = tests/fuzz/daemon/fuzz_history.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-counters
tests_fuzz_fuzz_counters_SOURCES = tests/fuzz/daemon/fuzz_counters.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-progress
tests_fuzz_fuzz_progress_SOURCES = tests/fuzz/daemon/fuzz_progress.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-notify-line
tests_fuzz_fuzz_notify_line_SOURCES = tests/fuzz/daemon/fuzz_notify_line.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-nodes-line
tests_fuzz_fuzz_nodes_line_SOURCES = tests/fuzz/daemon/fuzz_nodes_line.c $(FUZZ_MAIN)
