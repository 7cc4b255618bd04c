# fuzz targets of web
if HAVE_LIBEVENT
fuzz_targets += tests/fuzz/fuzz-request
tests_fuzz_fuzz_request_SOURCES = tests/fuzz/web/fuzz_request.c tests/unit/web/made_request.h $(FUZZ_MAIN)
tests_fuzz_fuzz_request_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_request_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_request_LDADD = web/libweb.a $(ZM_LIBS) $(LIBEVENT_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS) $(JANSSON_LIBS)
fuzz_targets += tests/fuzz/fuzz-letter
tests_fuzz_fuzz_letter_SOURCES = tests/fuzz/web/fuzz_letter.c $(FUZZ_MAIN)
tests_fuzz_fuzz_letter_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_letter_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_letter_LDADD = web/libweb.a $(ZM_LIBS) $(LIBEVENT_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS) $(JANSSON_LIBS)
fuzz_targets += tests/fuzz/fuzz-keys
tests_fuzz_fuzz_keys_SOURCES = tests/fuzz/web/fuzz_keys.c $(FUZZ_MAIN)
tests_fuzz_fuzz_keys_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS)
tests_fuzz_fuzz_keys_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_fuzz_keys_LDADD = web/libweb.a $(ZM_LIBS) $(LIBEVENT_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS) $(JANSSON_LIBS)
endif
