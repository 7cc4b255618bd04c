# scheduler
noinst_LIBRARIES += scheduler/libscheduler.a
scheduler_libscheduler_a_SOURCES = \
	scheduler/state.h \
	scheduler/queue.c scheduler/queue.h \
	scheduler/thread.c scheduler/thread.h \
	scheduler/heap.c scheduler/heap.h \
	scheduler/lanes.c scheduler/lanes.h \
	scheduler/pace.c scheduler/pace.h \
	scheduler/room.c scheduler/room.h \
	scheduler/provider.c scheduler/provider.h \
	scheduler/shape.c scheduler/shape.h \
	scheduler/zone.c scheduler/zone.h \
	scheduler/plan.c scheduler/plan.h \
	scheduler/retry.c scheduler/retry.h \
	scheduler/answer.c scheduler/answer.h \
	scheduler/intake.c scheduler/intake.h \
	scheduler/intake_scan.c scheduler/intake_scan.h \
	scheduler/job_build.c scheduler/job_build.h \
	scheduler/outcome.c scheduler/outcome.h \
	scheduler/rules.c scheduler/rules.h \
	scheduler/results.c scheduler/results.h \
	scheduler/bounce.c scheduler/bounce.h scheduler/bounce_internal.h \
	scheduler/bounce_words.c scheduler/bounce_fields.c \
	scheduler/bounce_value.c \
	scheduler/formset.c scheduler/formset.h \
	scheduler/report.c scheduler/report.h \
	scheduler/letter.c scheduler/letter.h \
	scheduler/expire.c scheduler/expire.h \
	scheduler/kept.c scheduler/kept.h \
	scheduler/group.c scheduler/group.h \
	scheduler/agents.c scheduler/agents.h scheduler/feed.c \
	scheduler/hear.c \
	scheduler/orders.c scheduler/orders.h \
	scheduler/request.c scheduler/request.h \
	scheduler/peer.c scheduler/peer.h \
	scheduler/visit.c scheduler/visit.h \
	scheduler/act.c scheduler/act.h \
	scheduler/act_list.c scheduler/act_count.c scheduler/act_change.c \
	scheduler/act_retry.c scheduler/act_dest.c scheduler/act_undelete.c \
	scheduler/act_reroute.c scheduler/resend.c scheduler/resend.h scheduler/act_events.c scheduler/act_next.c \
	scheduler/act_queue.c \
	scheduler/control.c scheduler/control_words.c scheduler/control.h \
	scheduler/mailq/keeper.c scheduler/mailq/keeper.h \
	scheduler/mailq/listener.c scheduler/mailq/listener.h \
	scheduler/mailq/session.c scheduler/mailq/session.h \
	scheduler/mailq/show.c scheduler/mailq/show.h \
	scheduler/core.c scheduler/core.h
pkglibexec_PROGRAMS += scheduler/scheduler
scheduler_scheduler_SOURCES = scheduler/scheduler.c
scheduler_scheduler_LDADD = scheduler/libscheduler.a $(ZM_LIBS)
# the words of reports
formsdir = $(pkgdatadir)/forms
dist_forms_DATA = scheduler/forms/en scheduler/forms/de scheduler/forms/fi
