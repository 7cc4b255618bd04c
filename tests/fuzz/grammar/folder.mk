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
tests_fuzz_fuzz_path_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_path_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_command_SOURCES = tests/fuzz/grammar/fuzz_command.c $(FUZZ_MAIN)
tests_fuzz_fuzz_command_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_command_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_dot_SOURCES = tests/fuzz/grammar/fuzz_dot.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dot_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_dot_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_header_SOURCES = tests/fuzz/grammar/fuzz_header.c $(FUZZ_MAIN)
tests_fuzz_fuzz_header_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_header_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_reply_SOURCES = tests/fuzz/grammar/fuzz_reply.c $(FUZZ_MAIN)
tests_fuzz_fuzz_reply_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_reply_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_xtext_SOURCES = tests/fuzz/grammar/fuzz_xtext.c $(FUZZ_MAIN)
tests_fuzz_fuzz_xtext_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_xtext_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_sts_SOURCES = tests/fuzz/grammar/fuzz_sts.c $(FUZZ_MAIN)
tests_fuzz_fuzz_sts_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_sts_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_units_SOURCES = tests/fuzz/grammar/fuzz_units.c $(FUZZ_MAIN)
tests_fuzz_fuzz_units_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_units_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_selector_SOURCES = tests/fuzz/grammar/fuzz_selector.c $(FUZZ_MAIN)
tests_fuzz_fuzz_selector_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_selector_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_json_SOURCES = tests/fuzz/grammar/fuzz_json.c $(FUZZ_MAIN)
tests_fuzz_fuzz_json_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_json_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_proxy_SOURCES = tests/fuzz/grammar/fuzz_proxy.c $(FUZZ_MAIN)
tests_fuzz_fuzz_proxy_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_proxy_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/grammar/path.dict tests/fuzz/grammar/command.dict tests/fuzz/grammar/dot.dict \
	tests/fuzz/grammar/header.dict tests/fuzz/grammar/reply.dict
tests_fuzz_fuzz_base64_SOURCES = tests/fuzz/grammar/fuzz_base64.c $(FUZZ_MAIN)
tests_fuzz_fuzz_base64_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_base64_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-rua
tests_fuzz_fuzz_rua_SOURCES = tests/fuzz/grammar/fuzz_rua.c $(FUZZ_MAIN)
tests_fuzz_fuzz_rua_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_rua_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/rua
fuzz_targets += tests/fuzz/fuzz-mailq
tests_fuzz_fuzz_mailq_SOURCES = tests/fuzz/grammar/fuzz_mailq.c $(FUZZ_MAIN)
tests_fuzz_fuzz_mailq_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_mailq_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-dsn tests/fuzz/fuzz-net
tests_fuzz_fuzz_dsn_SOURCES = tests/fuzz/grammar/fuzz_dsn.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dsn_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_dsn_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_net_SOURCES = tests/fuzz/grammar/fuzz_net.c $(FUZZ_MAIN)
tests_fuzz_fuzz_net_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_net_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-scram
tests_fuzz_fuzz_scram_SOURCES = tests/fuzz/grammar/fuzz_scram.c $(FUZZ_MAIN)
tests_fuzz_fuzz_scram_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_scram_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-mime
tests_fuzz_fuzz_mime_SOURCES = tests/fuzz/grammar/fuzz_mime.c $(FUZZ_MAIN)
tests_fuzz_fuzz_mime_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_mime_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-date
tests_fuzz_fuzz_date_SOURCES = tests/fuzz/grammar/fuzz_date.c $(FUZZ_MAIN)
tests_fuzz_fuzz_date_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_date_LDADD = $(ZM_LIBS)
fuzz_targets += tests/fuzz/fuzz-crlf
tests_fuzz_fuzz_crlf_SOURCES = tests/fuzz/grammar/fuzz_crlf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_crlf_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_crlf_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/crlf
fuzz_targets += tests/fuzz/fuzz-tar
tests_fuzz_fuzz_tar_SOURCES = tests/fuzz/grammar/fuzz_tar.c $(FUZZ_MAIN)
tests_fuzz_fuzz_tar_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_tar_LDADD = $(ZM_LIBS)
EXTRA_DIST += tests/fuzz/corpus/tar

fuzz_targets += tests/fuzz/fuzz-parts
tests_fuzz_fuzz_parts_SOURCES = tests/fuzz/grammar/fuzz_parts.c $(FUZZ_MAIN)
tests_fuzz_fuzz_parts_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_parts_LDADD = $(ZM_LIBS)
tests_fuzz_fuzz_resp_SOURCES = tests/fuzz/grammar/fuzz_resp.c $(FUZZ_MAIN)
tests_fuzz_fuzz_resp_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_resp_LDADD = $(ZM_LIBS)
