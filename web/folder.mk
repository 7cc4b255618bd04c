# web - the postmaster's desk in a browser, where libevent is
# order: page < ask < session < orders pages < send < serve
EXTRA_DIST += web/files/style.css web/files/script.js
if HAVE_LIBEVENT
noinst_LIBRARIES += web/libweb.a
web_libweb_a_SOURCES = \
	web/page/charset.c web/page/charset.h \
	web/page/course.c web/page/course.h \
	web/page/html.c web/page/html.h web/page/layout.c web/page/layout.h \
	web/page/picture.c web/page/picture.h \
	web/page/table.c web/page/table.h \
	web/ask/ask.c web/ask/ask.h web/ask/question.c web/ask/question.h \
	web/ask/wire.c web/ask/wire.h \
	web/orders/calls.h web/orders/errand.c web/orders/errand.h \
	web/orders/help.c web/orders/help.h \
	web/orders/intake.c web/orders/intake.h \
	web/orders/match.c web/orders/match.h web/orders/orders.c \
	web/orders/orders.h web/orders/passwords.c web/orders/questions.c web/orders/rows.h \
	web/orders/source.c web/orders/source.h \
	web/session/attempts.c web/session/attempts.h \
	web/session/people.c web/session/people.h \
	web/session/role.c web/session/role.h \
	web/session/session.c web/session/session.h \
	web/pages/pages.h web/pages/authentication.c web/pages/change.c \
	web/pages/answered.c web/pages/answered.h web/pages/complete.c web/pages/saved.c \
	web/pages/destination.c web/pages/destinations.c \
	web/pages/done.c web/pages/form.c \
	web/pages/form.h web/pages/health.c web/pages/limits.c \
	web/pages/life.c \
	web/pages/lines.c web/pages/message.c web/pages/order.c \
	web/pages/orders.c web/pages/overview.c web/pages/parts.h \
	web/pages/past.c web/pages/past.h \
	web/pages/queue.c web/pages/refused.c web/pages/review.c \
	web/pages/text.c web/pages/words.c web/pages/nodes.c \
	web/send/answer.c web/send/answer.h web/send/compose.c \
	web/send/compose.h web/send/dial.c web/send/dial.h web/send/dialogue.c web/send/dialogue.h \
	web/send/dialogue_internal.h web/send/dialogue_steps.c \
	web/send/inflow.c web/send/inflow.h web/send/key_table.c \
	web/send/key_table.h web/send/keys.c web/send/keys.h \
	web/send/letter.c web/send/letter.h web/send/letter_json.c \
	web/send/taken.c web/send/taken.h web/send/place.c \
	web/send/place.h web/send/send.c web/send/send.h \
	web/send/wanted.c web/send/wanted.h \
	web/serve/live.c web/serve/live.h web/serve/login.c web/serve/serving.h \
	web/serve/reply.c web/serve/reply.h web/serve/request.c \
	web/serve/request.h web/serve/routes.h web/serve/serve.c \
	web/serve/serve.h web/serve/slots.c web/serve/slots.h \
	web/serve/visits.c web/serve/visits.h
web_libweb_a_CFLAGS = -I. $(AM_CFLAGS) $(LIBEVENT_CFLAGS) $(JANSSON_CFLAGS)

pkglibexec_PROGRAMS += web/zm-web
web_zm_web_SOURCES = web/web.c
web_zm_web_LDADD = web/libweb.a $(ZM_LIBS) $(LIBEVENT_LIBS) $(CRYPT_LIBS) \
	$(SODIUM_LIBS) $(PAM_LIBS) $(JANSSON_LIBS)

# style sheet and script as C strings
BUILT_SOURCES += web/serve/files.inc
CLEANFILES += web/serve/files.inc web/serve/files.inc.new
web/serve/files.inc: web/files/style.css web/files/script.js
	@$(MKDIR_P) web/serve
	$(AM_V_GEN)(for f in style.css script.js; do \
	    echo "static const char file_$${f%.*}[] ="; \
	    sed -e 's/[\\"]/\\&/g' -e 's/^/"/' -e 's/$$/\\n"/' \
	    $(srcdir)/web/files/$$f; echo ';'; done) > $@.new && mv $@.new $@
web/serve/libweb_a-serve.$(OBJEXT): web/serve/files.inc
endif
