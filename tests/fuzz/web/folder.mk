# fuzz targets of web
if HAVE_LIBEVENT
fuzz_targets += tests/fuzz/fuzz-request
tests_fuzz_fuzz_request_SOURCES = tests/fuzz/web/fuzz_request.c tests/unit/web/made_request.h $(FUZZ_MAIN)
tests_fuzz_fuzz_request_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_request_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_request_LDADD = web/libweb.a $(ZM_LIBS) $(LIBEVENT_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS)
endif
