# fuzz targets of transports, and of libzm/io's readers of answers
fuzz_targets += tests/fuzz/fuzz-dns tests/fuzz/fuzz-client \
	tests/fuzz/fuzz-agent
tests_fuzz_fuzz_dns_SOURCES = tests/fuzz/transports/fuzz_dns.c $(FUZZ_MAIN)
tests_fuzz_fuzz_dns_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
tests_fuzz_fuzz_client_SOURCES = tests/fuzz/transports/fuzz_client.c $(FUZZ_MAIN)
tests_fuzz_fuzz_client_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
tests_fuzz_fuzz_client_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(FUZZ_LIBS)
tests_fuzz_fuzz_agent_SOURCES = tests/fuzz/transports/fuzz_agent.c $(FUZZ_MAIN)
tests_fuzz_fuzz_agent_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
tests_fuzz_fuzz_agent_LDADD = transports/libagent.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-forward
tests_fuzz_fuzz_forward_SOURCES = tests/fuzz/transports/fuzz_forward.c $(FUZZ_MAIN)
tests_fuzz_fuzz_forward_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
tests_fuzz_fuzz_forward_LDADD = transports/mailbox/libmailbox.a \
	transports/pipe/libpipe.a transports/libagent.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-http
tests_fuzz_fuzz_http_SOURCES = tests/fuzz/transports/fuzz_http.c $(FUZZ_MAIN)
EXTRA_DIST += tests/fuzz/transports/http.dict

fuzz_targets += tests/fuzz/fuzz-mimedown tests/fuzz/fuzz-boxnote
tests_fuzz_fuzz_mimedown_SOURCES = tests/fuzz/transports/fuzz_mimedown.c $(FUZZ_MAIN)
tests_fuzz_fuzz_boxnote_SOURCES = tests/fuzz/transports/fuzz_boxnote.c $(FUZZ_MAIN)
tests_fuzz_fuzz_boxnote_LDADD = transports/mailbox/libmailbox.a \
	transports/pipe/libpipe.a transports/libagent.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-smconf
tests_fuzz_fuzz_smconf_SOURCES = tests/fuzz/transports/fuzz_smconf.c $(FUZZ_MAIN)
tests_fuzz_fuzz_smconf_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
tests_fuzz_fuzz_smconf_LDADD = transports/sm/libsm.a $(FUZZ_LIBS)
fuzz_targets += tests/fuzz/fuzz-ehlo
tests_fuzz_fuzz_ehlo_SOURCES = tests/fuzz/transports/fuzz_ehlo.c $(FUZZ_MAIN)
tests_fuzz_fuzz_ehlo_LDADD = transports/smtp/libclient.a \
	transports/libagent.a $(FUZZ_LIBS)

fuzz_targets += tests/fuzz/fuzz-tlsa
tests_fuzz_fuzz_tlsa_SOURCES = tests/fuzz/transports/fuzz_tlsa.c $(FUZZ_MAIN)
tests_fuzz_fuzz_tlsa_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/tests/fuzz
