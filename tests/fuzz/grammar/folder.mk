# fuzz targets of libzm/grammar and libzm/base/json.c
fuzz_targets += \
	tests/fuzz/fuzz-path \
	tests/fuzz/fuzz-command \
	tests/fuzz/fuzz-dot \
	tests/fuzz/fuzz-header \
	tests/fuzz/fuzz-reply \
	tests/fuzz/fuzz-resp \
	tests/fuzz/fuzz-base64 \
	tests/fuzz/fuzz-proxy \
	tests/fuzz/fuzz-xtext \
	tests/fuzz/fuzz-sts tests/fuzz/fuzz-units \
	tests/fuzz/fuzz-selector \
	tests/fuzz/fuzz-json
tests_fuzz_fuzz_path_SOURCES = tests/fuzz/grammar/fuzz_path.c $(FUZZ_MAIN)
tests_fuzz_fuzz_command_SOURCES = tests/fuzz/grammar/fuzz_command.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dot_SOURCES = tests/fuzz/grammar/fuzz_dot.c $(FUZZ_MAIN)
tests_fuzz_fuzz_header_SOURCES = tests/fuzz/grammar/fuzz_header.c $(FUZZ_MAIN)
tests_fuzz_fuzz_reply_SOURCES = tests/fuzz/grammar/fuzz_reply.c $(FUZZ_MAIN)
tests_fuzz_fuzz_xtext_SOURCES = tests/fuzz/grammar/fuzz_xtext.c $(FUZZ_MAIN)
tests_fuzz_fuzz_sts_SOURCES = tests/fuzz/grammar/fuzz_sts.c $(FUZZ_MAIN)
tests_fuzz_fuzz_units_SOURCES = tests/fuzz/grammar/fuzz_units.c $(FUZZ_MAIN)
tests_fuzz_fuzz_selector_SOURCES = tests/fuzz/grammar/fuzz_selector.c $(FUZZ_MAIN)
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/grammar/fuzz_json.c $(FUZZ_MAIN)
tests_fuzz_fuzz_proxy_SOURCES = tests/fuzz/grammar/fuzz_proxy.c $(FUZZ_MAIN)
EXTRA_DIST += tests/fuzz/grammar/path.dict tests/fuzz/grammar/command.dict tests/fuzz/grammar/dot.dict \
	tests/fuzz/grammar/header.dict tests/fuzz/grammar/reply.dict
tests_fuzz_fuzz_base64_SOURCES = tests/fuzz/grammar/fuzz_base64.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-rua
tests_fuzz_fuzz_rua_SOURCES = tests/fuzz/grammar/fuzz_rua.c $(FUZZ_MAIN)
EXTRA_DIST += tests/fuzz/corpus/rua
fuzz_targets += tests/fuzz/fuzz-mailq
tests_fuzz_fuzz_mailq_SOURCES = tests/fuzz/grammar/fuzz_mailq.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-dsn tests/fuzz/fuzz-net
tests_fuzz_fuzz_dsn_SOURCES = tests/fuzz/grammar/fuzz_dsn.c $(FUZZ_MAIN)
tests_fuzz_fuzz_net_SOURCES = tests/fuzz/grammar/fuzz_net.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-scram
tests_fuzz_fuzz_scram_SOURCES = tests/fuzz/grammar/fuzz_scram.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-mime
tests_fuzz_fuzz_mime_SOURCES = tests/fuzz/grammar/fuzz_mime.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-date
tests_fuzz_fuzz_date_SOURCES = tests/fuzz/grammar/fuzz_date.c $(FUZZ_MAIN)
fuzz_targets += tests/fuzz/fuzz-crlf
tests_fuzz_fuzz_crlf_SOURCES = tests/fuzz/grammar/fuzz_crlf.c $(FUZZ_MAIN)
EXTRA_DIST += tests/fuzz/corpus/crlf
fuzz_targets += tests/fuzz/fuzz-tar
tests_fuzz_fuzz_tar_SOURCES = tests/fuzz/grammar/fuzz_tar.c $(FUZZ_MAIN)
EXTRA_DIST += tests/fuzz/corpus/tar

fuzz_targets += tests/fuzz/fuzz-parts
tests_fuzz_fuzz_parts_SOURCES = tests/fuzz/grammar/fuzz_parts.c $(FUZZ_MAIN)
tests_fuzz_fuzz_resp_SOURCES = tests/fuzz/grammar/fuzz_resp.c $(FUZZ_MAIN)
