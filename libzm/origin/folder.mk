# libzm/origin - whose mail is it: SPF, DKIM, DKIM2, DMARC; no I/O, no clock
# order: . < spf dkim < arc dkim2 dmarc < authres
libzm_a_SOURCES += \
	libzm/origin/answers.c libzm/origin/answers.h \
	libzm/origin/arc/arc.c libzm/origin/arc/arc.h \
	libzm/origin/arc/internal.h libzm/origin/arc/read.c \
	libzm/origin/arc/vouch.c \
	libzm/origin/authres/authres.c libzm/origin/authres/authres.h \
	libzm/origin/authres_read.c libzm/origin/authres_read.h \
	libzm/origin/dkim/dkim.c libzm/origin/dkim/dkim.h \
	libzm/origin/dkim/canon.c libzm/origin/dkim/choose.c \
	libzm/origin/dkim/field.c \
	libzm/origin/dkim/internal.h libzm/origin/dkim/key.c \
	libzm/origin/dkim/sign.c libzm/origin/dkim/sign.h \
	libzm/origin/dkim/tags.c \
	libzm/origin/dkim2/dkim2.c libzm/origin/dkim2/dkim2.h \
	libzm/origin/dkim2/bounce.c libzm/origin/dkim2/bounce.h \
	libzm/origin/dkim2/content.c libzm/origin/dkim2/custody.c \
	libzm/origin/dkim2/describe.c libzm/origin/dkim2/field.c \
	libzm/origin/dkim2/internal.h libzm/origin/dkim2/key.c \
	libzm/origin/dkim2/read.c libzm/origin/dkim2/recipe.c \
	libzm/origin/dkim2/sign.c libzm/origin/dkim2/sign.h \
	libzm/origin/dkim2/signed.c libzm/origin/dkim2/undo.c \
	libzm/origin/dmarc/dmarc.c libzm/origin/dmarc/dmarc.h \
	libzm/origin/dmarc/author.c libzm/origin/dmarc/note.c \
	libzm/origin/dmarc/hears.c libzm/origin/dmarc/hears.h \
	libzm/origin/dmarc/note.h libzm/origin/dmarc/policy.h \
	libzm/origin/dmarc/record.c libzm/origin/dmarc/record.h \
	libzm/origin/dmarc/walk.c \
	libzm/origin/name.c libzm/origin/origin.c libzm/origin/origin.h \
	libzm/origin/spf/spf.c libzm/origin/spf/spf.h \
	libzm/origin/spf/internal.h \
	libzm/origin/spf/macro.c libzm/origin/spf/match.c \
	libzm/origin/spf/record.c \
	libzm/origin/wire.c libzm/origin/zone.c
