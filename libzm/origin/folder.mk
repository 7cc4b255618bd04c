# libzm/origin - whose mail is it: SPF, DKIM, DMARC; no I/O, no clock
libzm_a_SOURCES += \
	libzm/origin/answers.c libzm/origin/answers.h \
	libzm/origin/authres.c libzm/origin/authres.h \
	libzm/origin/dmarc.c libzm/origin/dmarc.h \
	libzm/origin/dmarc_author.c \
	libzm/origin/dmarc_record.c libzm/origin/dmarc_record.h \
	libzm/origin/dmarc_walk.c \
	libzm/origin/origin.c libzm/origin/origin.h \
	libzm/origin/zone.c
