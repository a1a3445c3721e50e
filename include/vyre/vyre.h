/*
 * vyre.h: everything public, for users who want one include.
 *
 * What Vyre does not do: it does not print, abort or read the environment; it has no mutable
 * globals; it does not schedule across devices.
 */
#ifndef VYRE_VYRE_H
#define VYRE_VYRE_H

#include <vyre/allocator.h>
#include <vyre/audit.h>
#include <vyre/backend.h>
#include <vyre/batch.h>
#include <vyre/binding_plan.h>
#include <vyre/calibration.h>
#include <vyre/decision.h>
#include <vyre/device.h>
#include <vyre/diag.h>
#include <vyre/explain.h>
#include <vyre/export.h>
#include <vyre/graph_capture.h>
#include <vyre/hash.h>
#include <vyre/instance.h>
#include <vyre/kernel.h>
#include <vyre/knowledge.h>
#include <vyre/learning.h>
#include <vyre/memory.h>
#include <vyre/observer.h>
#include <vyre/policy.h>
#include <vyre/proof.h>
#include <vyre/slot_set.h>
#include <vyre/status.h>
#include <vyre/store.h>
#include <vyre/u128.h>
#include <vyre/version.h>
#include <vyre/why.h>

#endif
