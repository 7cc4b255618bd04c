# tools - zmailer and the classic names
sbin_PROGRAMS += tools/zmailer
tools_zmailer_SOURCES = tools/zmailer.c tools/verb.h tools/verbs.h tools/verb_help.c
tools_zmailer_SOURCES += tools/verb_demo.c
tools_zmailer_LDADD = $(ZM_LIBS)
