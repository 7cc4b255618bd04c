# libzm/origin - whose mail is it: SPF, DKIM, DMARC; no I/O, no clock
libzm_a_SOURCES += \
	libzm/origin/answers.c libzm/origin/answers.h \
	libzm/origin/origin.c libzm/origin/origin.h \
	libzm/origin/zone.c
