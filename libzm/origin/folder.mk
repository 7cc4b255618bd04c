# libzm/origin - whose mail is it: SPF, DKIM, DMARC; no I/O, no clock
libzm_a_SOURCES += \
	libzm/origin/answers.c libzm/origin/answers.h \
	libzm/origin/arc.c libzm/origin/arc.h \
	libzm/origin/arc_internal.h libzm/origin/arc_read.c \
	libzm/origin/arc_vouch.c \
	libzm/origin/authres.c libzm/origin/authres.h \
	libzm/origin/authres_read.c libzm/origin/authres_read.h \
	libzm/origin/dkim.c libzm/origin/dkim.h \
	libzm/origin/dkim_canon.c libzm/origin/dkim_field.c \
	libzm/origin/dkim_internal.h libzm/origin/dkim_key.c \
	libzm/origin/dkim_sign.c libzm/origin/dkim_sign.h \
	libzm/origin/dkim_tags.c \
	libzm/origin/dmarc.c libzm/origin/dmarc.h \
	libzm/origin/dmarc_author.c libzm/origin/dmarc_policy.h \
	libzm/origin/dmarc_record.c libzm/origin/dmarc_record.h \
	libzm/origin/dmarc_walk.c \
	libzm/origin/origin.c libzm/origin/origin.h \
	libzm/origin/spf.c libzm/origin/spf.h \
	libzm/origin/spf_internal.h \
	libzm/origin/spf_macro.c libzm/origin/spf_match.c \
	libzm/origin/spf_record.c \
	libzm/origin/wire.c libzm/origin/zone.c
