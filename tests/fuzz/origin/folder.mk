# what strangers publish and sign
fuzz_targets += tests/fuzz/fuzz-spf tests/fuzz/fuzz-dkim tests/fuzz/fuzz-dmarc
tests_fuzz_fuzz_spf_SOURCES = tests/fuzz/origin/fuzz_spf.c \
	tests/fuzz/origin/zone.h $(FUZZ_MAIN)
tests_fuzz_fuzz_dkim_SOURCES = tests/fuzz/origin/fuzz_dkim.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dmarc_SOURCES = tests/fuzz/origin/fuzz_dmarc.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-arc
tests_fuzz_fuzz_arc_SOURCES = tests/fuzz/origin/fuzz_arc.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-dkim2
tests_fuzz_fuzz_dkim2_SOURCES = tests/fuzz/origin/fuzz_dkim2.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-authres
tests_fuzz_fuzz_authres_SOURCES = tests/fuzz/origin/fuzz_authres.c $(FUZZ_MAIN)
