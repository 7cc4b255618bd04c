# libzm/conf - the configuration
# the configuration: who calls it includes conf/conf.h
libzm_a_SOURCES += \
	libzm/conf/at.h \
	libzm/conf/conf.h \
	libzm/conf/edit.h \
	libzm/conf/internal.h \
	libzm/conf/statements.h \
	libzm/conf/at.c \
	libzm/conf/complain.c \
	libzm/conf/edit.c \
	libzm/conf/file.c \
	libzm/conf/index.c \
	libzm/conf/route_value.c libzm/conf/route_value.h \
	libzm/conf/rows.c \
	libzm/conf/word.c
# what they fill in, by the same subjects
libzm_a_SOURCES += \
	libzm/conf/settings/agents.h \
	libzm/conf/settings/control.h \
	libzm/conf/settings/door.h \
	libzm/conf/settings/hooks.h \
	libzm/conf/settings/policy.h \
	libzm/conf/settings/queue.h \
	libzm/conf/settings/rewrite.h \
	libzm/conf/settings/routing.h \
	libzm/conf/settings/secure.h \
	libzm/conf/settings/site.h
# a row a statement
libzm_a_SOURCES += \
	libzm/conf/statements/agents.h \
	libzm/conf/statements/control.h \
	libzm/conf/statements/door.h \
	libzm/conf/statements/hooks.h \
	libzm/conf/statements/policy.h \
	libzm/conf/statements/queue.h \
	libzm/conf/statements/rewrite.h \
	libzm/conf/statements/routing.h \
	libzm/conf/statements/secure.h \
	libzm/conf/statements/site.h
# bytes to a checked tree
libzm_a_SOURCES += \
	libzm/conf/read/check.c \
	libzm/conf/read/lex.c \
	libzm/conf/read/load.c \
	libzm/conf/read/names.c \
	libzm/conf/read/parse.c \
	libzm/conf/read/preset.c \
	libzm/conf/read/value.c
# what each statement does to the settings
libzm_a_SOURCES += \
	libzm/conf/part/agents.c \
	libzm/conf/part/apply.c \
	libzm/conf/part/auth.c \
	libzm/conf/part/classes.c \
	libzm/conf/part/door.c \
	libzm/conf/part/hooks.c \
	libzm/conf/part/log.c \
	libzm/conf/part/mailbox.c \
	libzm/conf/part/mailq.c \
	libzm/conf/part/milter.c \
	libzm/conf/part/policy.c \
	libzm/conf/part/policy_text.c \
	libzm/conf/part/policy_value.c \
	libzm/conf/part/reach.c \
	libzm/conf/part/retry.c \
	libzm/conf/part/rewrite.c \
	libzm/conf/part/routing.c \
	libzm/conf/part/schedule.c \
	libzm/conf/part/target.c \
	libzm/conf/part/tls.c \
	libzm/conf/part/zenv.c \
	libzm/conf/part/zone.c
# the rows and the settings as text
libzm_a_SOURCES += \
	libzm/conf/show/help.c \
	libzm/conf/show/manual.c \
	libzm/conf/show/report.c \
	libzm/conf/show/schedule.c \
	libzm/conf/show/show.c
# has the machine what the configuration names?
libzm_a_SOURCES += \
	libzm/conf/machine/certificates.c \
	libzm/conf/machine/named.c \
	libzm/conf/machine/values.c \
	libzm/conf/machine/files.c
# ZMailer's scheduler.conf
libzm_a_SOURCES += \
	libzm/conf/legacy/legacy.h \
	libzm/conf/legacy/legacy.c \
	libzm/conf/legacy/words.c
