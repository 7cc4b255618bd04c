# libzm/grammar - bytes in, structs out; no I/O, no clock
# order: smtp < message
# lines of a session and what stands in them (RFC 5321, 3461, 5802)
libzm_a_SOURCES += \
	libzm/grammar/smtp/command.c libzm/grammar/smtp/command.h \
	libzm/grammar/smtp/crlf.c libzm/grammar/smtp/crlf.h \
	libzm/grammar/smtp/dot.c libzm/grammar/smtp/dot.h \
	libzm/grammar/smtp/dsn.c libzm/grammar/smtp/dsn.h \
	libzm/grammar/smtp/ehlo.c libzm/grammar/smtp/ehlo.h \
	libzm/grammar/smtp/path.c libzm/grammar/smtp/path.h \
	libzm/grammar/smtp/proxy.c libzm/grammar/smtp/proxy.h \
	libzm/grammar/smtp/reply.c libzm/grammar/smtp/reply.h \
	libzm/grammar/smtp/scram.c libzm/grammar/smtp/scram.h \
	libzm/grammar/smtp/xtext.c libzm/grammar/smtp/xtext.h
# what a message is made of (RFC 5322, 2045)
libzm_a_SOURCES += \
	libzm/grammar/message/alias.c libzm/grammar/message/alias.h \
	libzm/grammar/message/date.c libzm/grammar/message/date.h \
	libzm/grammar/message/header.c libzm/grammar/message/header.h \
	libzm/grammar/message/header_address.c \
	libzm/grammar/message/header_date.c \
	libzm/grammar/message/mime.c libzm/grammar/message/mime.h \
	libzm/grammar/message/mime_code.c libzm/grammar/message/mime_code.h \
	libzm/grammar/message/mime_down.c libzm/grammar/message/mime_down.h \
	libzm/grammar/message/mime_header.c \
	libzm/grammar/message/mime_parts.c libzm/grammar/message/mime_parts.h
# what else is read from outside or typed by people
libzm_a_SOURCES += \
	libzm/grammar/base64.c libzm/grammar/base64.h \
	libzm/grammar/bundle.c libzm/grammar/bundle.h \
	libzm/grammar/http.c libzm/grammar/http.h \
	libzm/grammar/http_body.c \
	libzm/grammar/mailq.c libzm/grammar/mailq.h \
	libzm/grammar/mailq_show.c libzm/grammar/mailq_show.h \
	libzm/grammar/net.c libzm/grammar/net.h \
	libzm/grammar/resp.c libzm/grammar/resp.h \
	libzm/grammar/rua.c libzm/grammar/rua.h \
	libzm/grammar/selector.c libzm/grammar/selector.h \
	libzm/grammar/selector_internal.h \
	libzm/grammar/selector_parse.c \
	libzm/grammar/sts.c libzm/grammar/sts.h \
	libzm/grammar/tar.c libzm/grammar/tar.h \
	libzm/grammar/tlsa.c libzm/grammar/tlsa.h \
	libzm/grammar/units.c libzm/grammar/units.h
