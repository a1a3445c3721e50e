"""explain_test.py: the explanation of a batch that ran says what the record says."""

import json

from lib import Record, Test

test = Test()
path = test.write_record("record.json", 300)
record = Record(path)
names = record.names

for number in (1, 2, 3, 30, 100):
    expected = [b for b in record.batches if b["sequence"] == number]
    found = json.loads(test.run(test.vyre, path, str(number), "--json").stdout)["batches"]
    test.equal(len(found), len(expected), f"batches with number {number}")
    for one, batch in zip(found, expected):
        what = f"batch {number} of device {batch['device']}"
        for key in ("predicted_ns", "submit_ns", "device_ns", "saved_ns", "shape", "variant"):
            test.equal(one[key], batch[key], f"{key} of {what}")
        test.equal(one["measured_ns"], batch["wall_ns"], f"measured_ns of {what}")
        test.equal(one["mode"], names["mode"][batch["mode"]], f"mode of {what}")
        test.equal(one["why"], names["why"][batch["why"]], f"why of {what}")
        at = record.batches.index(batch)
        compared = next(b for b in reversed(record.batches[:at + 1]) if b["candidates"] and
                        (b["device"], b["shape"]) == (batch["device"], batch["shape"]))
        test.equal(one["candidates_of_batch"], compared["sequence"], f"comparison of {what}")
        test.equal([(c["mode"], c["why"], c["predicted_ns"], c["measured_ns"], c["measured_count"])
                    for c in one["candidates"]],
                   [(names["mode"][c["mode"]], names["why"][c["why"]], c["predicted_ns"],
                     c["measured_ns"], c["count"]) for c in compared["candidates"]],
                   f"candidates of {what}")
        origins = {i["name"]: i["origin"] for i in one["inputs"]}
        test.equal(origins["repeats_seen"], "observed", f"origin of {what}")
        test.equal(origins.get("repeat_hint"), "hint" if batch["repeat_hint"] else None,
                   f"hint of {what}")
        test.equal(origins["plain-batch"], "calibrated", f"cost of {what}")
        shape = next(entry for entry in record.of("shape")
                     if (entry["device"], entry["shape"]) == (batch["device"], batch["shape"]))
        verdicts = {one["policy"]: one for one in one["policies"]}
        test.equal(len(verdicts), 6, f"policies of {what}")
        launch, recording, replay = shape["command_reuse"]
        repeats = batch["repeat_hint"] or batch["repeats_seen"]
        saved = repeats * (launch - replay) - recording
        pays = repeats > 1 and launch > replay and saved > 0
        test.equal(verdicts["command_reuse"]["verdict"],
                   f"record-and-replay:{saved}" if pays else "plain-launches", f"reuse of {what}")
        inputs = {(i["name"], i["value"], i["origin"]) for i in verdicts["command_reuse"]["inputs"]}
        test.check(("record_overhead_ns", recording, "calibrated") in inputs, f"inputs of {what}")
        test.check(("repeat_count", repeats, "hint" if batch["repeat_hint"] else "observed") in inputs,
                   f"repeats of {what}")
        test.equal(verdicts["arm_independence"]["verdict"], shape["arms"], f"arms of {what}")
    text = test.run(test.vyre, path, str(number)).stdout
    for batch in expected:
        for part in (names["why"][batch["why"]], record.labels[batch["label"]], "observed",
                     "calibrated", "chosen: ", "predicted "):
            test.check(part in text, f"batch {number}: the text lacks {part}")

done = test.run(test.vyre, path, "999999", code=2)
test.check("error[record-batch]" in done.stderr, "an unknown batch: not record-batch")
test.equal(done.stdout, "", "output for an unknown batch")
hostile = test.write_record("hostile.json", 60, "hostile")
text = test.run(test.vyre, hostile, "5").stdout
test.check("\x1b" not in text and "\x01" not in text, "control characters reach the terminal")
test.finish()
