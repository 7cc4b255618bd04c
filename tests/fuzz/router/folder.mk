# fuzz targets of router
fuzz_targets += tests/fuzz/fuzz-alias tests/fuzz/fuzz-route_value \
	tests/fuzz/fuzz-message_file
tests_fuzz_fuzz_alias_SOURCES = tests/fuzz/router/fuzz_alias.c $(FUZZ_MAIN)
tests_fuzz_fuzz_alias_LDADD = router/librouter.a $(FUZZ_LIBS)
tests_fuzz_fuzz_route_value_SOURCES = tests/fuzz/router/fuzz_route_value.c $(FUZZ_MAIN)
tests_fuzz_fuzz_route_value_LDADD = router/librouter.a $(FUZZ_LIBS)
tests_fuzz_fuzz_message_file_SOURCES = tests/fuzz/router/fuzz_message_file.c $(FUZZ_MAIN)
tests_fuzz_fuzz_message_file_LDADD = router/librouter.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-srs tests/fuzz/fuzz-include
tests_fuzz_fuzz_srs_SOURCES = tests/fuzz/router/fuzz_srs.c $(FUZZ_MAIN)
tests_fuzz_fuzz_srs_LDADD = router/librouter.a $(FUZZ_LIBS)
tests_fuzz_fuzz_include_SOURCES = tests/fuzz/router/fuzz_include.c $(FUZZ_MAIN)
tests_fuzz_fuzz_include_LDADD = router/librouter.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-hook
tests_fuzz_fuzz_hook_SOURCES = tests/fuzz/router/fuzz_hook.c $(FUZZ_MAIN)
tests_fuzz_fuzz_hook_LDADD = router/librouter.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-rewrite
tests_fuzz_fuzz_rewrite_SOURCES = tests/fuzz/router/fuzz_rewrite.c $(FUZZ_MAIN)
tests_fuzz_fuzz_rewrite_LDADD = router/librouter.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-signer
tests_fuzz_fuzz_signer_SOURCES = tests/fuzz/router/fuzz_signer.c $(FUZZ_MAIN)
tests_fuzz_fuzz_signer_LDADD = router/librouter.a $(FUZZ_LIBS)
