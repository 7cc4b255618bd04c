/* faults.h - local parts that make the sink misbehave
 *
 * FAULT(name, fault, text).  A local part of three digits, 4yz or 5yz, gets
 * that reply to RCPT; "data-" and such digits gets it at the end of data.
 *
 * SPDX-License-Identifier: ISC
 */
FAULT("timeout", FAULT_SILENCE, "never answers this RCPT, nor anything after")
FAULT("drop", FAULT_DROP, "closes the connection instead of answering RCPT")
FAULT("slow", FAULT_SLOW, "answers RCPT after a second")
FAULT("greylist", FAULT_GREY, "answers 450 the first time a sender comes")
FAULT("data-drop", FAULT_DATA_DROP, "takes the message and does not say so")
