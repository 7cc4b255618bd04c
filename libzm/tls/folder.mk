# libzm/tls - the only room that includes OpenSSL: links, keys, digests, SCRAM, DKIM
# order: . < outward < login
libzm_a_SOURCES += \
	libzm/tls/about.c libzm/tls/about.h \
	libzm/tls/client.c libzm/tls/client.h \
	libzm/tls/client_load.c libzm/tls/client_load.h \
	libzm/tls/dane.c libzm/tls/dane.h \
	libzm/tls/digest.c libzm/tls/digest.h \
	libzm/tls/dkim.c libzm/tls/dkim.h \
	libzm/tls/login/issue.c libzm/tls/login/issue.h \
	libzm/tls/login/https.c libzm/tls/login/https.h \
	libzm/tls/internal.h \
	libzm/tls/link.c libzm/tls/link.h \
	libzm/tls/outward/client_stream.c libzm/tls/outward/client_stream.h \
	libzm/tls/outward/http_call.c libzm/tls/outward/http_call.h \
	libzm/tls/pair.c libzm/tls/pair.h \
	libzm/tls/login/password.c libzm/tls/login/password.h \
	libzm/tls/provider.c \
	libzm/tls/scram.c libzm/tls/scram.h \
	libzm/tls/server.c libzm/tls/server.h \
	libzm/tls/sign.c libzm/tls/sign.h \
	libzm/tls/tickets.c \
	libzm/tls/tls.c libzm/tls/tls.h \
	libzm/tls/verify.c libzm/tls/verify.h
