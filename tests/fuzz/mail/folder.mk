# fuzz targets of libzm/mail (table's is in daemon/)
fuzz_targets += tests/fuzz/fuzz-envelope \
	tests/fuzz/fuzz-control \
	tests/fuzz/fuzz-job \
	tests/fuzz/fuzz-spoolname
tests_fuzz_fuzz_envelope_SOURCES = tests/fuzz/mail/fuzz_envelope.c $(FUZZ_MAIN)
tests_fuzz_fuzz_control_SOURCES = tests/fuzz/mail/fuzz_control.c tests/fuzz/mail/windows.c tests/fuzz/mail/windows.h $(FUZZ_MAIN)
tests_fuzz_fuzz_job_SOURCES = tests/fuzz/mail/fuzz_job.c $(FUZZ_MAIN)
tests_fuzz_fuzz_spoolname_SOURCES = tests/fuzz/mail/fuzz_spoolname.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-pcre
tests_fuzz_fuzz_pcre_SOURCES = tests/fuzz/mail/fuzz_pcre.c $(FUZZ_MAIN)
