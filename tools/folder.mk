# tools - zmailer and the classic names
sbin_PROGRAMS += tools/zmailer
tools_zmailer_SOURCES = tools/zmailer.c tools/verb.h tools/verbs.h tools/verb_help.c
tools_zmailer_SOURCES += tools/verb_demo.c
tools_zmailer_SOURCES += tools/verb_check.c tools/verb_config.c tools/verb_init.c
tools_zmailer_LDADD = $(ZM_LIBS)

sbin_PROGRAMS += tools/sendmail
tools_sendmail_SOURCES = tools/sendmail.c tools/submit.c tools/submit.h
tools_sendmail_LDADD = $(ZM_LIBS)

bin_PROGRAMS += tools/newaliases
tools_newaliases_SOURCES = tools/newaliases.c
tools_newaliases_LDADD = $(ZM_LIBS)

EXTRA_DIST += tools/setup .ci/run
