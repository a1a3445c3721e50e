"""page_test.py: the page of `vyre report` in a headless Chromium.

It opens without a word on the console and without a request, its numbers are those of the record,
its filters change what is drawn, labels stay text, both themes work, and so do mouse and keyboard.
"""

import hashlib
import sys

from browser import Browser, find_chromium
from lib import Record, Test

test = Test()
if not find_chromium():
    sys.exit("Chromium is not installed: run scripts/bootstrap test")

DRAWN = "Number(document.getElementById('timeline').dataset.drawn)"
PIXELS = "document.getElementById('{}').toDataURL()"
CELLS = """[...document.querySelectorAll('#{} tbody tr')].map((row) => [...row.children].map((cell) => {{
  const exact = cell.querySelector('data');
  return exact ? Number(exact.value) : cell.textContent;
}}))"""


def pixels(page, canvas):
    return hashlib.sha256(page.value(PIXELS.format(canvas)).encode()).hexdigest()


def card(page, name):
    return page.value(f"Number(document.getElementById('card-{name}').value)")


def make_page(name, batches, *words):
    record = test.write_record(f"{name}.json", batches, *words)
    path = test.folder / f"{name}.html"
    test.run(test.vyre, "report", record, "-o", path)
    return Record(record), path


def select(page, name, value):
    page.value(f"(() => {{ const list = document.getElementById('filter-{name}'); list.value = '{value}';"
               " list.dispatchEvent(new Event('change')); })()")
    page.settle()


def click(page, selector):
    page.value(f"document.querySelector({selector!r}).click()")
    page.settle()


def check_numbers(page, record):
    end = record.end
    test.equal(page.value(DRAWN), len(record.batches), "batches drawn")
    test.equal(card(page, "batches"), end["batches_seen"], "batches on the page")
    test.equal(card(page, "dispatches"), end["commands"][0], "dispatches on the page")
    test.equal(card(page, "wall"), end["wall_ns"], "time on the page")
    test.equal(card(page, "saved"), end["saved_ns"], "saved time on the page")
    test.equal(card(page, "regret"), record.regret_ns(), "regret on the page")
    ratios = sorted(b["wall_ns"] / b["predicted_ns"] for b in record.batches
                    if b["predicted_ns"] and b["wall_ns"])
    middle = len(ratios) // 2
    median = ratios[middle] if len(ratios) % 2 else (ratios[middle - 1] + ratios[middle]) / 2
    test.check(abs(card(page, "ratio") - median) < 1e-9, "median ratio on the page")
    names = record.names
    rows = page.value(CELLS.format("table-batches"))
    test.equal(len(rows), 25, "rows of the first page")
    for row, batch in zip(rows, record.batches):
        test.equal(row, [batch["sequence"], record.labels[batch["label"]] or "(no label)",
                         way(record, batch), names["why"][batch["why"]], batch["submit_begin_ns"],
                         batch["predicted_ns"], batch["wall_ns"], batch["saved_ns"],
                         names["status"][batch["status"]]], f"row of batch {batch['sequence']}")


def way(record, entry):
    names = record.names
    bits = [name for bit, name in enumerate(names["variant"]) if entry["variant"] >> bit & 1]
    return ", ".join([names["mode"][entry["mode"]], *bits])


def check_groups(page, record):
    sums = {}
    for batch in record.batches:
        for use in batch["kernels"]:
            entry = sums.setdefault(record.labels[use["label"]], [0, 0, 0, 0])
            for i, value in enumerate((1, use["dispatches"], batch["wall_ns"], batch["saved_ns"])):
                entry[i] += value
    rows = page.value(CELLS.format("table-kernels"))
    test.equal({row[0]: [row[1], row[2], row[3], row[5]] for row in rows}, sums, "table of kernels")
    reasons = {}
    for batch in record.batches:
        name = record.names["why"][batch["why"]]
        reasons[name] = reasons.get(name, 0) + 1
    rows = page.value(CELLS.format("table-reasons"))
    test.equal({row[0]: row[1] for row in rows}, reasons, "table of reasons")


def check_filters(page, record):
    full = {name: pixels(page, name) for name in ("timeline", "decisions", "scatter", "saved")}
    kernel = record.batches[0]["kernels"][0]["label"]
    with_kernel = [b for b in record.batches if any(u["label"] == kernel for u in b["kernels"])]
    select(page, "kernel", kernel)
    test.equal(page.value(DRAWN), len(with_kernel), "batches drawn with one kernel")
    test.equal(card(page, "wall"), sum(b["wall_ns"] for b in with_kernel), "time with one kernel")
    test.equal(page.value("Number(document.getElementById('table-batches').dataset.rows)"),
               len(with_kernel), "rows with one kernel")
    for name, before in full.items():
        test.check(pixels(page, name) != before, f"{name} is the same with one kernel")
    select(page, "kernel", -1)
    trial = record.names["why"].index("trial")
    select(page, "why", trial)
    test.equal(page.value(DRAWN), sum(b["why"] == trial for b in record.batches), "trials drawn")
    click(page, "#filter-reset")
    test.equal(page.value(DRAWN), len(record.batches), "batches drawn after Show all")
    test.equal(pixels(page, "timeline"), full["timeline"], "the timeline after Show all")
    replay = record.names["mode"].index("replay")
    click(page, f"#mode-{replay}")
    test.equal(page.value(DRAWN), sum(b["mode"] != replay for b in record.batches), "without replay")
    test.check(pixels(page, "timeline") != full["timeline"], "the timeline is the same without replay")
    for mode in {b["mode"] for b in record.batches} - {replay}:
        click(page, f"#mode-{mode}")
    test.equal(page.value(DRAWN), 0, "batches drawn without any mode")
    click(page, "#filter-reset")
    select(page, "device", 2)
    test.equal(page.value(DRAWN), sum(b["device"] == 2 for b in record.batches), "one device")
    click(page, "#filter-reset")


def check_timeline(page):
    span = "(() => { const d = document.getElementById('timeline').dataset; return d.to - d.from; })()"
    start = "Number(document.getElementById('timeline').dataset.from)"
    page.value("document.getElementById('timeline').scrollIntoView({block: 'center'})")
    page.settle()
    box = page.value("(() => { const b = document.getElementById('timeline').getBoundingClientRect();"
                     " return [b.x + b.width * 0.6, b.y + b.height / 4]; })()")
    whole, drawn = page.value(span), page.value(DRAWN)
    page.wheel(*box, -900)
    test.check(page.value(span) < whole / 2, "the wheel does not zoom")
    test.check(0 < page.value(DRAWN) < drawn, "zooming draws as many")
    before = page.value(start)
    page.drag(*box, box[0] - 150)
    test.check(page.value(start) > before, "dragging does not move")
    page.value("document.getElementById('timeline').focus()")
    before = page.value(start)
    page.key("ArrowLeft")
    test.check(page.value(start) < before, "the arrow does not move")
    before = page.value(span)
    page.key("+")
    test.check(page.value(span) < before, "plus does not zoom")
    page.key("Home")
    test.equal(page.value(DRAWN), drawn, "batches drawn after Home")
    page.key("n")
    test.equal(page.value("document.getElementById('detail').dataset.batch"), "0", "first by keyboard")
    page.key("n")
    test.equal(page.value("document.getElementById('detail').dataset.batch"), "1", "next by keyboard")


def check_detail(page, record):
    """The row that the keyboard chooses is shown with its candidates."""
    page.value("document.querySelector('#table-batches tbody tr').focus()")
    page.key("ArrowDown")
    page.key("ArrowDown")
    page.key("Enter")
    chosen = page.value("Number(document.getElementById('detail').dataset.batch)")
    test.equal(chosen, 2, "batch chosen by keyboard")
    test.equal(page.value("document.querySelector('#table-batches tr[aria-selected=true]').dataset.batch"),
               "2", "marked row")
    batch = record.batches[chosen]
    compared = next(b for b in reversed(record.batches[:chosen + 1]) if b["candidates"] and
                    (b["device"], b["shape"]) == (batch["device"], batch["shape"]))
    names = record.names
    test.equal(page.value(CELLS.format("candidates")),
               [[way(record, c), c["predicted_ns"] if c["state"] else "–",
                 c["measured_ns"] if c["count"] else "–", c["count"], names["state"][c["state"]],
                 names["why"][c["why"]]] for c in compared["candidates"]], "candidates")


def check_tables(page, record):
    head = "#table-batches thead th:nth-child(7) button"
    sort = "document.querySelector('#table-batches thead th:nth-child(7)').getAttribute('aria-sort')"
    click(page, head)
    test.equal(page.value(sort), "descending", "aria-sort")
    walls = sorted((b["wall_ns"] for b in record.batches), reverse=True)
    test.equal([row[6] for row in page.value(CELLS.format("table-batches"))], walls[:25], "sorted rows")
    click(page, head)
    test.equal(page.value(sort), "ascending", "aria-sort, the other way")
    bare = page.value("""[...document.querySelectorAll('table')].filter((table) => !table.caption ||
      !table.caption.textContent || [...table.querySelectorAll('thead th')].some((th) => th.scope !== 'col'))
      .map((table) => table.id)""")
    test.equal(bare, [], "tables without a caption or scopes")
    unnamed = page.value("""[...document.querySelectorAll('button, select, input, canvas')].filter((e) =>
      !(e.textContent.trim() || e.getAttribute('aria-label') || e.closest('label') || (e.labels && e.labels.length)))
      .map((e) => e.id || e.tagName)""")
    test.equal(unnamed, [], "controls without a name")


def check_themes(page):
    background = "getComputedStyle(document.documentElement).backgroundColor"
    light, light_pixels = page.value(background), pixels(page, "scatter")
    page.set_scheme(True)
    page.settle()
    dark, dark_pixels = page.value(background), pixels(page, "scatter")
    test.check(light != dark and light_pixels != dark_pixels, "the system's dark theme changes nothing")
    click(page, "#theme")
    test.equal(page.value(background), light, "background after the switch to light")
    test.equal(pixels(page, "scatter"), light_pixels, "chart after the switch to light")
    click(page, "#theme")
    test.equal(page.value(background), dark, "background after the switch to dark")


def check_hostile(browser):
    record, path = make_page("hostile", 300, "hostile")
    text = path.read_text(encoding="utf-8")
    data = text[text.index('id="record">') + 12:]
    data = data[:data.index("</script>")]
    test.check("<" not in data and ">" not in data, "markup in the data")
    page = browser.open(path)
    test.equal(page.problems(), [], "console of the hostile page")
    check_numbers(page, record)
    check_groups(page, record)
    click(page, "#table-changes tbody tr:nth-child(4)")
    for tab in range(7):
        click(page, f"#tab-{tab}")
    test.check("pwned" not in page.value("document.title"), "a label ran as a script")
    test.equal(page.value("document.querySelectorAll('img, iframe, object, embed').length"), 0,
               "elements made of labels")
    test.equal(page.value("document.scripts.length"), 2, "scripts")
    shown = page.value("document.getElementById('table-kernels').textContent")
    for label in {record.labels[u["label"]] for b in record.batches for u in b["kernels"]}:
        test.check(label in shown, f"the label is not shown as text: {label[:40]}")
    test.equal(page.problems(), [], "console of the hostile page, at the end")


def check_large(browser):
    record, path = make_page("large", 100000)
    page = browser.open(path)
    test.equal(page.problems(), [], "console of the large page")
    test.equal(page.value(DRAWN), 100000, "batches drawn of the large page")
    test.equal(card(page, "wall"), record.end["wall_ns"], "time on the large page")
    test.equal(card(page, "regret"), record.regret_ns(), "regret on the large page")
    select(page, "why", record.names["why"].index("explore"))
    explored = sum(record.names["why"][b["why"]] == "explore" for b in record.batches)
    test.equal(page.value(DRAWN), explored, "explorations drawn")
    # One drawing of everything takes a frame or two, not a second; printed, not asserted.
    took = page.value("(() => { document.getElementById('filter-reset').click(); const t = performance.now();"
                      " window.dispatchEvent(new Event('resize')); return performance.now() - t; })()")
    print(f"drawing 100,000 batches took {took:.0f} ms")


def check_real(browser):
    """A page of a real run: the same numbers, and a lane for all that happened."""
    path = test.folder / "real.json"
    test.run(test.vyre, "run", test.source / "examples/workloads/stream-upload.json", "--backend", "cpu",
             "--no-store", "--quiet", "--record", path)
    test.run(test.vyre, "report", path, "-o", test.folder / "real.html")
    record = Record(path)
    page = browser.open(test.folder / "real.html")
    test.equal(page.problems(), [], "console of a real page")
    check_numbers(page, record)
    check_groups(page, record)
    legend = page.value("document.getElementById('timeline-legend').textContent")
    for word in ("compile", "commands per time", "copied bytes per time"):
        test.check(word in legend, f"no {word} in the legend of a real page")
    test.equal("lease" in legend, bool(record.of("lease")), "leases in the legend")


def check_thin(browser):
    record, path = make_page("thin", 20000, "limit=200000")
    page = browser.open(path)
    test.equal(card(page, "batches"), 20000, "batches seen by a record that was thinned out")
    test.equal(card(page, "saved"), record.end["saved_ns"], "saved time of that record")
    test.equal(page.value(DRAWN), len(record.batches), "batches drawn of that record")
    test.check("20,000" in page.value("document.getElementById('notice').textContent"), "no notice")
    _, path = make_page("empty", 0)
    page = browser.open(path)
    test.equal(page.value(DRAWN), 0, "batches drawn of an empty record")
    test.equal(page.problems(), [], "console of an empty record")


with Browser() as chromium:
    story, story_path = make_page("story", 2000)
    sheet = chromium.open(story_path)
    test.equal(sheet.problems(), [], "console")
    check_numbers(sheet, story)
    check_groups(sheet, story)
    check_filters(sheet, story)
    check_timeline(sheet)
    check_detail(sheet, story)
    check_tables(sheet, story)
    check_themes(sheet)
    test.equal(sheet.problems(), [], "console at the end")
    check_hostile(chromium)
    check_real(chromium)
    check_large(chromium)
    check_thin(chromium)
test.finish()
