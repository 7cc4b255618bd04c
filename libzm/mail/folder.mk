libzm_a_SOURCES += \
	libzm/mail/envelope.c libzm/mail/envelope_parse.c libzm/mail/envelope.h \
	libzm/mail/verdict.c libzm/mail/verdict.h \
	libzm/mail/work_format.c libzm/mail/work_parse.c libzm/mail/work_record.c \
	libzm/mail/work_append.c libzm/mail/work_job.c \
	libzm/mail/work_internal.h libzm/mail/work.h
