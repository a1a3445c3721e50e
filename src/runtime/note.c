/*
 * note.c: keeps the decision record of a submission.
 */
#include "runtime/note.h"

void vyre_note_candidates(const struct vyre_device *device,
                          const struct vyre_governor_choice *governed,
                          struct vyre_decision_record *record)
{
    record->candidate_count = governed->candidate_count;
    for (uint32_t i = 0; i < governed->candidate_count; i++) {
        const struct vyre_candidate_prediction *seen = &governed->candidates[i];
        record->candidates[i] = (struct vyre_decision_candidate){
            .predicted_ns = vyre_whole_ns(seen->predicted_ns),
            .measured_ns = vyre_whole_ns(seen->measured_ns),
            .count = seen->count,
            .reason = seen->reason,
            .mode = (uint8_t)device->candidates.list[i].mode,
            .variant = (uint8_t)device->candidates.list[i].variant,
            .state = seen->state,
        };
    }
}

uint64_t vyre_note_decision_locked(struct vyre_device *device, const struct vyre_body *body,
                                   uint32_t repeat_hint, const struct vyre_mode_choice *choice,
                                   const struct vyre_governor_choice *governed, bool timed)
{
    enum vyre_decision_why why =
        governed ? (enum vyre_decision_why)governed->why : VYRE_WHY_REQUIRED;
    if (!device->decisions)
        return 0;
    /* A record without times says little: what nobody times is only counted. */
    bool kept = vyre_decisions_sample(device->decisions, choice->mode, why,
                                      timed && vyre_why_is_try(why), device->clock_ns);
    if (!kept || !timed)
        return 0;
    struct vyre_decision_record record = {
        .shape_lo = governed ? body->shape.lo : 0,
        .shape_hi = governed ? body->shape.hi : 0,
        .time_ns = device->clock_ns,
        .command_count = body->view.command_count,
        .repeat_hint = repeat_hint,
        .repeats_seen = governed ? body->shape_entry->seen : 0,
        .mode = (uint8_t)choice->mode,
        .variant = (uint8_t)choice->variant,
        .why = (uint8_t)why,
    };
    if (governed) {
        record.settled = governed->settled;
        record.predicted_ns = vyre_whole_ns(governed->predicted_ns);
        vyre_note_candidates(device, governed, &record);
    }
    return vyre_decisions_begin(device->decisions, &record);
}
