# scheduler
# order: jobs < plan < sharing < settle < intake < outcome < report < agents < verdicts < control < mailq
noinst_LIBRARIES += scheduler/libscheduler.a
scheduler_libscheduler_a_SOURCES = \
	scheduler/core.c scheduler/core.h \
	scheduler/jobs/answer.c scheduler/jobs/answer.h scheduler/jobs/array.h \
	scheduler/jobs/job.c \
	scheduler/jobs/job.h scheduler/jobs/pending.c scheduler/jobs/pending.h \
	scheduler/jobs/table.c scheduler/jobs/table.h \
	scheduler/jobs/hearers.c scheduler/jobs/hearers.h \
	scheduler/verdicts/verdicts.c scheduler/verdicts/verdicts.h \
	scheduler/plan/arrivals/arrivals.c scheduler/plan/arrivals/arrivals.h \
	scheduler/plan/arrivals/arrive.c scheduler/plan/arrivals/arrive.h \
	scheduler/plan/arrivals/estimate.c scheduler/plan/arrivals/estimate.h \
	scheduler/plan/heap.c scheduler/plan/heap.h scheduler/plan/lanes.c \
	scheduler/plan/lanes.h scheduler/plan/orders.c scheduler/plan/orders.h \
	scheduler/plan/shaping/pace.c scheduler/plan/shaping/pace.h scheduler/plan/plan.c \
	scheduler/plan/plan.h scheduler/plan/shaping/provider.c \
	scheduler/plan/shaping/provider.h scheduler/plan/queue.c \
	scheduler/plan/queue.h scheduler/plan/retry.c scheduler/plan/retry.h \
	scheduler/plan/ring.h \
	scheduler/plan/arrivals/objectives.c scheduler/plan/arrivals/objectives.h \
	scheduler/plan/runfile.c scheduler/plan/runfile.h \
	scheduler/plan/shaping/shape.c scheduler/plan/shaping/shape.h \
	scheduler/plan/shaping/shape_line.h \
	scheduler/plan/thread.c scheduler/plan/thread.h scheduler/plan/shaping/zone.c \
	scheduler/plan/shaping/zone.h \
	scheduler/plan/shaping/allowance.c scheduler/plan/shaping/allowance.h \
	scheduler/sharing/sharing.c scheduler/sharing/sharing.h \
	scheduler/sharing/taken.c scheduler/sharing/taken.h \
	scheduler/sharing/warming.c scheduler/sharing/warming.h \
	scheduler/sharing/moves.c scheduler/sharing/moves.h \
	scheduler/sharing/keeping.c scheduler/sharing/state.h \
	scheduler/settle/group.c scheduler/settle/group.h \
	scheduler/settle/settle.c scheduler/settle/settle.h \
	scheduler/intake/cold.c scheduler/intake/cold.h \
	scheduler/intake/intake.c scheduler/intake/intake.h \
	scheduler/intake/job_build.c scheduler/intake/job_build.h \
	scheduler/intake/known.c scheduler/intake/large.c scheduler/intake/large.h \
	scheduler/intake/orphans.c \
	scheduler/intake/read.c scheduler/intake/reading.c \
	scheduler/intake/reading.h scheduler/intake/scan.c \
	scheduler/intake/scan.h \
	scheduler/intake/strays.c scheduler/intake/strays.h \
	scheduler/outcome/amend.c scheduler/outcome/amend.h \
	scheduler/outcome/attempt.c scheduler/outcome/attempt.h \
	scheduler/outcome/expire.c scheduler/outcome/expire.h \
	scheduler/outcome/orderer.c scheduler/outcome/orderer.h \
	scheduler/outcome/outcome.c scheduler/outcome/outcome.h \
	scheduler/outcome/resend.c scheduler/outcome/resend.h \
	scheduler/outcome/results.c scheduler/outcome/results.h \
	scheduler/outcome/rules.c scheduler/outcome/rules.h \
	scheduler/report/bounce.c scheduler/report/bounce.h \
	scheduler/report/bounce_fields.c scheduler/report/bounce_internal.h \
	scheduler/report/bounce_value.c scheduler/report/bounce_words.c \
	scheduler/report/formset.c scheduler/report/formset.h \
	scheduler/report/reporter.c scheduler/report/reporter.h \
	scheduler/report/report.c scheduler/report/report.h \
	scheduler/report/gather.c scheduler/report/gather.h \
	scheduler/report/source.c scheduler/report/source.h \
	scheduler/agents/connection.c \
	scheduler/agents/standby.c scheduler/agents/agents.c scheduler/agents/agents.h \
	scheduler/agents/capacity.c scheduler/agents/capacity.h \
	scheduler/agents/feed.c scheduler/agents/hear.c \
	scheduler/control/act/arrive.c scheduler/control/act/objectives.c \
	scheduler/control/act/act.c scheduler/control/act/sync.c scheduler/control/act/acts.c scheduler/control/act/act.h \
	scheduler/control/act/change.c scheduler/control/act/count.c \
	scheduler/control/act/connections.c scheduler/control/act/dest.c scheduler/control/act/events.c \
	scheduler/control/act/history.c \
	scheduler/control/sampler.c scheduler/control/sampler.h \
	scheduler/control/act/job.c scheduler/control/act/list.c \
	scheduler/control/act/next.c scheduler/control/act/queue.c \
	scheduler/control/act/etrn.c scheduler/control/act/move.c \
	scheduler/control/act/reroute.c scheduler/control/act/retry.c scheduler/control/act/search.c \
	scheduler/control/act/turns.c scheduler/control/act/undelete.c \
	scheduler/control/constraint.c scheduler/control/constraint.h \
	scheduler/control/limit_place.c scheduler/control/limit_place.h \
	scheduler/control/suppose.c scheduler/control/suppose.h \
	scheduler/control/control.c scheduler/control/control.h \
	scheduler/control/request.c scheduler/control/request.h \
	scheduler/control/opening.c scheduler/control/opening.h \
	scheduler/control/visit.c scheduler/control/visit.h \
	scheduler/control/visit_open.c \
	scheduler/control/words.c \
	scheduler/mailq/listener.c scheduler/mailq/listener.h \
	scheduler/mailq/process.c scheduler/mailq/process.h \
	scheduler/mailq/session.c scheduler/mailq/session.h
pkglibexec_PROGRAMS += scheduler/scheduler
scheduler_scheduler_SOURCES = scheduler/scheduler.c
scheduler_scheduler_LDADD = scheduler/libscheduler.a $(ZM_LIBS)
# the words of reports
formsdir = $(pkgdatadir)/forms
dist_forms_DATA = scheduler/report/forms/en scheduler/report/forms/de scheduler/report/forms/fi
