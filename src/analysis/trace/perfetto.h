/* SPDX-License-Identifier: MIT */
/*
 * The fields of Perfetto's trace that are written. Numbers are those of the
 * published schema, https://github.com/google/perfetto, protos/perfetto/trace,
 * in the files named here; published numbers never change.
 */
#ifndef PFD_PERFETTO_H
#define PFD_PERFETTO_H

enum pfd_perfetto {
    /* trace.proto: Trace */
    TRACE_PACKET = 1,
    /* trace_packet.proto: TracePacket */
    PACKET_CLOCK_SNAPSHOT = 6,
    PACKET_TIMESTAMP = 8, /* ns */
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT = 11,
    PACKET_INTERNED_DATA = 12,
    PACKET_SEQUENCE_FLAGS = 13,
    PACKET_TIMESTAMP_CLOCK_ID = 58,
    PACKET_TRACK_DESCRIPTOR = 60,
    SEQUENCE_STATE_CLEARED = 1,
    SEQUENCE_NEEDS_STATE = 2,
    /* clock_snapshot.proto: ClockSnapshot, and a Clock in it */
    SNAPSHOT_CLOCKS = 1,
    SNAPSHOT_PRIMARY_CLOCK = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,
    /* common/builtin_clock.proto: BuiltinClock */
    BUILTIN_CLOCK_REALTIME = 1,
    /* track_event/track_descriptor.proto: TrackDescriptor */
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT_UUID = 5,
    TRACK_COUNTER = 8,
    /* track_event/track_event.proto: TrackEvent */
    EVENT_DEBUG_ANNOTATIONS = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK_UUID = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER_VALUE = 30,
    EVENT_DOUBLE_COUNTER_VALUE = 44,
    EVENT_TYPE_INSTANT = 3,
    EVENT_TYPE_COUNTER = 4,
    /* track_event/debug_annotation.proto: DebugAnnotation */
    ANNOTATION_NAME_IID = 1,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,
    ANNOTATION_NAME = 10,
    /* interned_data/interned_data.proto: InternedData; each has an iid and a
     * name (EventName, DebugAnnotationName) */
    INTERNED_EVENT_NAMES = 2,
    INTERNED_ANNOTATION_NAMES = 3,
    INTERNED_IID = 1,
    INTERNED_NAME = 2,
};

#endif
