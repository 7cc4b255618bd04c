libzm_a_SOURCES += \
	libzm/grammar/alias.c libzm/grammar/alias.h \
	libzm/grammar/path.c libzm/grammar/path.h \
	libzm/grammar/command.c libzm/grammar/command.h \
	libzm/grammar/dot.c libzm/grammar/dot.h \
	libzm/grammar/header.c libzm/grammar/header_address.c \
	libzm/grammar/header_date.c \
	libzm/grammar/header.h \
	libzm/grammar/http.c libzm/grammar/http_body.c libzm/grammar/http.h \
	libzm/grammar/crlf.c libzm/grammar/crlf.h \
	libzm/grammar/date.c libzm/grammar/date.h \
	libzm/grammar/ehlo.c libzm/grammar/ehlo.h \
	libzm/grammar/proxy.c libzm/grammar/proxy.h \
	libzm/grammar/xtext.c libzm/grammar/xtext.h \
	libzm/grammar/dsn.c libzm/grammar/dsn.h \
	libzm/grammar/selector.c libzm/grammar/selector_parse.c \
	libzm/grammar/selector_internal.h libzm/grammar/selector.h \
	libzm/grammar/tar.c libzm/grammar/tar.h \
	libzm/grammar/units.c libzm/grammar/units.h \
	libzm/grammar/net.c libzm/grammar/net.h \
	libzm/grammar/mailq.c libzm/grammar/mailq.h \
	libzm/grammar/mailq_show.c libzm/grammar/mailq_show.h \
	libzm/grammar/reply.c libzm/grammar/reply.h \
	libzm/grammar/base64.c libzm/grammar/base64.h \
	libzm/grammar/scram.c libzm/grammar/scram.h \
	libzm/grammar/mime.c libzm/grammar/mime.h \
	libzm/grammar/mime_code.c libzm/grammar/mime_code.h \
	libzm/grammar/mime_header.c \
	libzm/grammar/mime_down.c libzm/grammar/mime_down.h
