# unit tests of web
if HAVE_CRITERION
if HAVE_LIBEVENT
check_PROGRAMS += tests/unit/web/unit-web
SHORT_TESTS += tests/unit/web/unit-web
tests_unit_web_unit_web_SOURCES = \
	tests/unit/web/made_request.h tests/unit/web/test_attempts.c \
	tests/unit/web/test_change.c \
	tests/unit/web/test_course.c tests/unit/web/test_form.c tests/unit/web/test_html.c \
	tests/unit/web/test_help.c tests/unit/web/test_match.c tests/unit/web/test_order.c \
	tests/unit/web/test_question.c tests/unit/web/test_request.c \
	tests/unit/web/test_send.c tests/unit/web/test_session.c
tests_unit_web_unit_web_CFLAGS = $(AM_CFLAGS) $(LIBEVENT_CFLAGS) \
	$(CRITERION_CFLAGS)
tests_unit_web_unit_web_LDADD = web/libweb.a $(ZM_LIBS) \
	$(LIBEVENT_LIBS) $(CRYPT_LIBS) $(SODIUM_LIBS) $(PAM_LIBS) \
	$(JANSSON_LIBS) $(CRITERION_LIBS)
endif
endif
