'use strict';
/*
 * The page of a record. Text of the record goes into the document as text, never as markup.
 * Batches are kept as columns; `shown` lists those that pass the filters, in order of completion.
 */
(function () {
  const data = JSON.parse(document.getElementById('record').textContent);
  const rows = data.batches;
  const count = rows.sequence.length;
  const names = data.names;
  const byId = (id) => document.getElementById(id);

  // ---- Elements and numbers

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const key in attributes || {}) {
      if (key === 'class') element.className = attributes[key];
      else element.setAttribute(key, attributes[key]);
    }
    for (const child of children) {
      if (child === null || child === undefined) continue;
      element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return element;
  }

  const whole = new Intl.NumberFormat('en-US');

  function scaled(value, steps) {
    let step = 0;
    const size = Math.abs(value);
    while (step + 1 < steps.length && size >= steps[step + 1][1] * 0.9995) step++;
    if (step === 0) return whole.format(Math.round(value) + 0) + ' ' + steps[0][0];
    const number = value / steps[step][1];
    const digits = Math.abs(number) < 9.995 ? 2 : Math.abs(number) < 99.95 ? 1 : 0;
    return number.toFixed(digits) + ' ' + steps[step][0];
  }
  const nanoseconds = (value) => value === null ? 'not known'
    : scaled(value, [['ns', 1], ['µs', 1e3], ['ms', 1e6], ['s', 1e9]]);
  const bytes = (value) =>
    scaled(value, [['B', 1], ['KiB', 1024], ['MiB', 1048576], ['GiB', 1073741824]]);
  const percent = (value) => (100 * value).toFixed(Math.abs(value) < 0.0995 ? 2 : 1) + ' %';

  /* A number with its unit for people, and its exact value for programs. */
  function exact(value, text) {
    return make('data', {value: String(value), title: whole.format(value)}, text);
  }

  const label = (number) => data.labels[number] || '(no label)';
  const variantName = (variant) =>
    names.variant.filter((name, bit) => (variant >> bit) & 1).join(', ');
  const wayName = (mode, variant) =>
    (names.mode[mode] || 'unknown') + (variant ? ', ' + variantName(variant) : '');
  const deviceName = (number) => data.devices[number - 1].name || data.devices[number - 1].label;

  function swatch(colour) {
    const element = make('span', {class: 'swatch', 'aria-hidden': 'true'});
    element.style.background = `var(${colour})`;
    return element;
  }
  const modeTag = (mode, text) => make('span', {class: 'tag'}, swatch('--mode-' + mode), text);

  // ---- Derived from the record

  const candidatesOf = new Map();
  for (const entry of data.candidates) {
    const list = [];
    for (let i = 1; i < entry.length; i += 7) {
      list.push({mode: entry[i], variant: entry[i + 1], state: entry[i + 2], reason: entry[i + 3],
        predicted: entry[i + 4], measured: entry[i + 5], count: entry[i + 6]});
    }
    candidatesOf.set(entry[0], list);
  }

  /* Shapes of one device, each with the way that measured best in its last comparison. */
  const shapeKey = new Int32Array(count);
  const shapes = [];
  (function () {
    const known = new Map();
    for (let i = 0; i < count; i++) {
      const key = rows.shape[i] * 4096 + rows.device[i];
      if (!known.has(key)) {
        known.set(key, shapes.length);
        shapes.push({shape: rows.shape[i], device: rows.device[i], label: rows.label[i], best: null});
      }
      const shape = shapes[known.get(key)];
      shapeKey[i] = known.get(key);
      const candidates = candidatesOf.get(i);
      if (!candidates) continue;
      let best = null;
      for (const candidate of candidates) {
        if (candidate.measured > 0 && (!best || candidate.measured < best.measured)) best = candidate;
      }
      if (best) shape.best = best;
    }
  })();

  const regret = new Float64Array(count);
  const changes = []; // batches that ran another way than the previous one of their shape
  (function () {
    const last = new Map();
    for (let i = 0; i < count; i++) {
      const best = shapes[shapeKey[i]].best;
      const isBest = best && best.mode === rows.mode[i] && best.variant === rows.variant[i];
      if (best && !isBest && rows.wall_ns[i] > best.measured) regret[i] = rows.wall_ns[i] - best.measured;
      const way = rows.mode[i] * 256 + rows.variant[i];
      const before = last.get(shapeKey[i]);
      if (before !== way) changes.push({batch: i, from: before === undefined ? null : before});
      last.set(shapeKey[i], way);
    }
  })();

  let firstNs = Infinity;
  let lastNs = -Infinity;
  function reach(begin, end) {
    if (begin !== null && begin < firstNs) firstNs = begin;
    if (end !== null && end > lastNs) lastNs = end;
  }
  for (let i = 0; i < count; i++) reach(rows.submit_begin_ns[i], rows.complete_ns[i]);
  for (const kernel of data.kernels) reach(kernel[2], kernel[2] === null ? null : kernel[2] + kernel[3]);
  for (const lease of data.leases) reach(lease[2], lease[3]);
  if (!(firstNs < lastNs)) {
    firstNs = 0;
    lastNs = 1000;
  }

  // ---- Filters

  const filter = {kernel: -1, why: -1, device: 0, modes: names.mode.map(() => true)};
  let shown = new Uint32Array(0);
  const usesKernel = data.works.map((work) => {
    const labels = new Set();
    for (let i = 6; i < work.length; i += 2) labels.add(work[i]);
    return labels;
  });

  function applyFilters() {
    const list = new Uint32Array(count);
    let used = 0;
    for (let i = 0; i < count; i++) {
      if (!filter.modes[rows.mode[i]]) continue;
      if (filter.why >= 0 && rows.why[i] !== filter.why) continue;
      if (filter.device > 0 && rows.device[i] !== filter.device) continue;
      if (filter.kernel >= 0 && !usesKernel[rows.work[i]].has(filter.kernel)) continue;
      list[used++] = i;
    }
    shown = list.subarray(0, used);
    const output = byId('shown');
    output.replaceChildren(exact(used, whole.format(used)), ' of ', exact(count, whole.format(count)),
      ' batches');
    output.dataset.shown = used;
    refresh();
  }

  function fillFilters() {
    const kernels = new Set();
    for (const labels of usesKernel) for (const number of labels) kernels.add(number);
    const kernelSelect = byId('filter-kernel');
    kernelSelect.append(make('option', {value: -1}, 'all'));
    for (const number of [...kernels].sort((a, b) => label(a) < label(b) ? -1 : 1)) {
      const text = label(number);
      kernelSelect.append(make('option', {value: number},
        text.length > 60 ? text.slice(0, 57) + '…' : text));
    }
    const whySelect = byId('filter-why');
    whySelect.append(make('option', {value: -1}, 'all'));
    const reasons = new Set(rows.why);
    names.why.forEach((name, number) => {
      if (reasons.has(number)) whySelect.append(make('option', {value: number}, name));
    });
    const deviceSelect = byId('filter-device');
    deviceSelect.append(make('option', {value: 0}, 'all'));
    data.devices.forEach((device, i) =>
      deviceSelect.append(make('option', {value: i + 1}, `${device.backend}: ${deviceName(i + 1)}`)));
    byId('filter-device-label').hidden = data.devices.length < 2;
    const used = new Set(rows.mode);
    names.mode.forEach((name, number) => {
      if (!used.has(number)) return;
      const box = make('input', {type: 'checkbox', id: 'mode-' + number, value: number});
      box.checked = true;
      box.addEventListener('change', () => {
        filter.modes[number] = box.checked;
        applyFilters();
      });
      byId('filter-mode').append(make('label', {for: 'mode-' + number}, box,
        swatch('--mode-' + number), name));
    });
    kernelSelect.addEventListener('change', () => {
      filter.kernel = Number(kernelSelect.value);
      applyFilters();
    });
    whySelect.addEventListener('change', () => {
      filter.why = Number(whySelect.value);
      applyFilters();
    });
    deviceSelect.addEventListener('change', () => {
      filter.device = Number(deviceSelect.value);
      applyFilters();
    });
    byId('filter-reset').addEventListener('click', () => {
      kernelSelect.value = whySelect.value = '-1';
      deviceSelect.value = '0';
      for (const box of byId('filter-mode').querySelectorAll('input')) box.checked = true;
      Object.assign(filter, {kernel: -1, why: -1, device: 0, modes: names.mode.map(() => true)});
      applyFilters();
    });
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
  }

  // ---- Canvases

  let colours = {};
  function readColours() {
    const style = getComputedStyle(document.documentElement);
    colours = {};
    for (const name of ['panel', 'ink', 'quiet', 'line', 'soft', 'accent', 'compile', 'lease', 'copy',
      'command', 'record', 'bad', 'good', 'grid']) colours[name] = style.getPropertyValue('--' + name).trim();
    colours.modes = names.mode.map((_, i) => style.getPropertyValue('--mode-' + Math.min(i, 4)).trim());
  }

  /* A cleared context whose unit is the CSS pixel. */
  function begin(canvas, height) {
    const width = canvas.clientWidth || canvas.parentElement.clientWidth || 800;
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = height + 'px';
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext('2d');
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '12px system-ui, "Noto Sans", "DejaVu Sans", sans-serif';
    context.textBaseline = 'middle';
    return {context, width, height};
  }

  function clip(context, text, width) {
    text = text.length > 80 ? text.slice(0, 80) + '…' : text;
    if (context.measureText(text).width <= width) return text;
    while (text.length > 1 && context.measureText(text + '…').width > width) text = text.slice(0, -1);
    return text + '…';
  }

  /* Round steps: 1, 2 or 5 times a power of ten. */
  function ticks(from, to, wanted) {
    const raw = (to - from) / Math.max(1, wanted);
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = power * (raw / power > 5 ? 10 : raw / power > 2 ? 5 : raw / power > 1 ? 2 : 1);
    const list = [];
    for (let at = Math.ceil(from / step) * step; at <= to; at += step) list.push(at);
    return {step, list};
  }

  function tickText(ns, step) {
    const unit = step >= 1e9 ? ['s', 1e9] : step >= 1e6 ? ['ms', 1e6] : step >= 1e3 ? ['µs', 1e3] : ['ns', 1];
    return whole.format(Math.round(ns / unit[1]) || 0) + ' ' + unit[0];
  }

  function timeAxis(area, left, top, bottom, from, to) {
    const {context, width} = area;
    const {step, list} = ticks(from - firstNs, to - firstNs, (width - left) / 110);
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.grid;
    context.lineWidth = 1;
    context.textAlign = 'center';
    for (const at of list) {
      const x = left + (at + firstNs - from) / (to - from) * (width - left);
      context.beginPath();
      context.moveTo(Math.round(x) + 0.5, top);
      context.lineTo(Math.round(x) + 0.5, bottom);
      context.stroke();
      const text = tickText(at, step);
      const half = context.measureText(text).width / 2;
      context.fillText(text, Math.min(Math.max(x, left + half), width - half - 1), bottom + 11);
    }
  }

  // ---- Timeline

  const GUTTER = 190;
  const view = {from: firstNs, to: lastNs};
  let lanes = [];
  let chosen = -1;
  let hits = []; // lanes of the last drawing, and where they are

  function byBegin(indices, begins, ends) {
    indices.sort((a, b) => begins[a] - begins[b]);
    let longest = 0;
    for (const i of indices) longest = Math.max(longest, ends(i) - begins[i]);
    return {indices, longest};
  }

  function buildLanes() {
    const isShown = new Uint8Array(count);
    for (const i of shown) isShown[i] = 1;
    const submitEnd = (i) => rows.submit_begin_ns[i] + rows.submit_ns[i];
    const host = byBegin(shown.filter((i) => rows.submit_begin_ns[i] !== null),
      rows.submit_begin_ns, submitEnd);
    lanes = [{name: 'Host: submit', kind: 'batch', height: 34, begin: rows.submit_begin_ns,
      end: submitEnd, list: host}];
    const compiles = data.kernels.filter((kernel) => kernel[2] !== null &&
      (filter.device === 0 || kernel[0] === filter.device) &&
      (filter.kernel < 0 || kernel[1] === filter.kernel));
    const recordings = data.recordings.filter((recording) => recording[5] !== null && !recording[1] &&
      (filter.device === 0 || recording[0] === filter.device));
    if (data.kernels.length + data.recordings.length > 0) {
      lanes.push({name: 'Host: compile, record', kind: 'span', height: 22, spans: compiles
        .map((kernel) => ({begin: kernel[2], end: kernel[2] + kernel[3], colour: 'compile',
          text: 'compile ' + label(kernel[1])}))
        .concat(recordings.map((recording) => ({begin: recording[5],
          end: recording[5] + recording[6], colour: 'record', text: 'record a batch'})))});
    }
    data.devices.forEach((device, index) => {
      const number = index + 1;
      if (filter.device > 0 && filter.device !== number) return;
      const own = byBegin(shown.filter((i) => rows.device[i] === number &&
        rows.device_begin_ns[i] !== null), rows.device_begin_ns, (i) => rows.device_end_ns[i]);
      const title = `${device.backend}: ${deviceName(number)}`;
      lanes.push({name: title, kind: 'batch', height: 46, begin: rows.device_begin_ns,
        end: (i) => rows.device_end_ns[i], list: own, head: true});
      if (own.indices.length > 0) {
        lanes.push({name: 'commands', kind: 'commands', height: 22, begin: rows.device_begin_ns,
          end: (i) => rows.device_end_ns[i], list: own, sub: true});
      }
      if (own.indices.some((i) => data.works[rows.work[i]][5] > 0)) {
        lanes.push({name: 'copies', kind: 'copies', height: 26, begin: rows.device_begin_ns,
          end: (i) => rows.device_end_ns[i], list: own, sub: true});
      }
      const leases = data.leases.filter((lease) => lease[0] === number && lease[2] !== null);
      if (leases.length > 0) {
        lanes.push({name: 'leases', kind: 'span', height: 20, sub: true, spans: leases.map((lease) =>
          ({begin: lease[2], end: lease[3] === null ? lastNs : lease[3], colour: 'lease',
            text: `lease ${lease[1]}${lease[5] ? `, left: ${lease[5]}` : ''}` +
              `${lease[4] ? ', end derived' : ''}`}))});
      }
    });
  }

  /* The first position in a lane's list whose span may reach into the view. */
  function firstIn(lane) {
    const wanted = view.from - lane.list.longest;
    let low = 0;
    let high = lane.list.indices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.begin[lane.list.indices[middle]] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* Calls visit(batch, x0, x1) for each batch of the lane in the view; returns how many there were. */
  function visitBatches(lane, width, visit) {
    const perNs = width / (view.to - view.from);
    const list = lane.list.indices;
    let visited = 0;
    for (let at = firstIn(lane); at < list.length; at++) {
      const i = list[at];
      const from = lane.begin[i];
      if (from > view.to) break;
      const to = lane.end(i);
      if (to < view.from) continue;
      visited++;
      visit(i, (from - view.from) * perNs, (to - view.from) * perNs);
    }
    return visited;
  }

  /* Adds the span to the pixels that it covers, to each in proportion to its covered part. */
  function cover(pixels, offset, width, x0, x1, weight) {
    const from = Math.max(0, x0);
    const to = Math.min(width, x1);
    if (to <= from) {
      const pixel = Math.floor(from);
      if (pixel >= 0 && pixel < width) pixels[offset + pixel] += 0.02 * weight;
      return;
    }
    const first = Math.floor(from);
    const last = Math.min(width - 1, Math.floor(to));
    if (first === last) {
      pixels[offset + first] += (to - from) * weight;
      return;
    }
    pixels[offset + first] += (first + 1 - from) * weight;
    for (let pixel = first + 1; pixel < last; pixel++) pixels[offset + pixel] += weight;
    pixels[offset + last] += (to - last) * weight;
  }

  function drawAggregate(context, lane, top, width) {
    const modes = names.mode.length;
    const pixels = new Float32Array(modes * (width + 1));
    const drawn = visitBatches(lane, width, (i, x0, x1) =>
      cover(pixels, rows.mode[i] * (width + 1), width, x0, x1, 1));
    for (let pixel = 0; pixel < width; pixel++) {
      let sum = 0;
      for (let mode = 0; mode < modes; mode++) sum += pixels[mode * (width + 1) + pixel];
      if (sum === 0) continue;
      const full = Math.max(2, Math.min(1, sum) * (lane.height - 6));
      let y = top + lane.height - 3;
      for (let mode = 0; mode < modes; mode++) {
        const height = full * pixels[mode * (width + 1) + pixel] / sum;
        if (height === 0) continue;
        context.fillStyle = colours.modes[mode];
        context.fillRect(GUTTER + pixel, y - height, 1, height);
        y -= height;
      }
    }
    return drawn;
  }

  function drawSingly(context, lane, top, width) {
    return visitBatches(lane, width, (i, x0, x1) => {
      const x = GUTTER + Math.max(0, x0);
      const size = Math.max(1, Math.min(width, x1) - Math.max(0, x0) - (x1 - x0 > 4 ? 1 : 0));
      context.globalAlpha = lane.head && rows.derived[i] ? 0.72 : 1;
      context.fillStyle = rows.status[i] === 0 ? colours.modes[rows.mode[i]] : colours.bad;
      context.fillRect(x, top + 3, size, lane.height - 6);
      context.globalAlpha = 1;
      if (size > 46) {
        context.fillStyle = colours.panel;
        context.textAlign = 'left';
        context.fillText(clip(context, label(rows.label[i]), size - 10), x + 6, top + lane.height / 2);
      }
    });
  }

  function drawCopies(context, lane, top, width) {
    const pixels = new Float32Array(width + 1);
    const perNs = width / (view.to - view.from);
    const drawn = visitBatches(lane, width, (i, x0, x1) => {
      const span = Math.max(1 / perNs, lane.end(i) - lane.begin[i]);
      cover(pixels, 0, width, x0, Math.max(x1, x0 + 0.5), data.works[rows.work[i]][5] / span);
    });
    context.fillStyle = colours.copy;
    drawRates(context, pixels, lane, top, width);
    return drawn;
  }

  const commandCounts = data.works.map((work) =>
    work.slice(0, names.command.length).reduce((sum, kind) => sum + kind, 0));

  /* The height of a lane of rates: a few spikes must not flatten all the rest. */
  function usualMost(pixels, width) {
    const used = pixels.slice(0, width).filter((value) => value > 0).sort();
    return used.length === 0 ? 0 : Math.min(used[used.length - 1], 1.5 * used[Math.floor(used.length * 0.95)]);
  }

  function drawRates(context, pixels, lane, top, width) {
    const most = usualMost(pixels, width);
    for (let pixel = 0; pixel < width && most > 0; pixel++) {
      if (pixels[pixel] === 0) continue;
      const height = Math.max(1, Math.min(1, pixels[pixel] / most) * (lane.height - 6));
      context.fillRect(GUTTER + pixel, top + lane.height - 3 - height, 1, height);
    }
  }

  /* "106 dispatch, 2 upload: matvec ×43, rope ×12". */
  function commandText(i) {
    const work = data.works[rows.work[i]];
    const kinds = names.command.map((name, kind) => work[kind] ? `${whole.format(work[kind])} ${name}` : '')
      .filter(Boolean).join(', ');
    const kernels = [];
    for (let at = 6; at < work.length; at += 2) kernels.push(`${label(work[at])} ×${whole.format(work[at + 1])}`);
    return kinds + (kernels.length ? ': ' + kernels.join(', ') : '');
  }

  /* Commands per time, since single commands are not timed; with their names where there is room. */
  function drawCommands(context, lane, top, width) {
    const pixels = new Float32Array(width + 1);
    const wide = [];
    const drawn = visitBatches(lane, width, (i, x0, x1) => {
      const end = Math.max(x1, x0 + 0.5);
      cover(pixels, 0, width, x0, end, commandCounts[rows.work[i]] / (end - x0));
      if (x1 - x0 > 90) wide.push([i, Math.max(0, x0), Math.min(width, x1)]);
    });
    context.fillStyle = colours.command;
    drawRates(context, pixels, lane, top, width);
    context.textAlign = 'left';
    for (const [i, x0, x1] of wide) {
      context.fillStyle = colours.command;
      context.fillRect(GUTTER + x0, top + 3, Math.max(1, x1 - x0 - 1), lane.height - 6);
      context.fillStyle = colours.panel;
      if (x1 - x0 > 40) context.fillText(clip(context, commandText(i), x1 - x0 - 10), GUTTER + x0 + 6, top + lane.height / 2);
    }
    return drawn;
  }

  function drawSpans(context, lane, top, width) {
    const perNs = width / (view.to - view.from);
    let drawn = 0;
    for (const span of lane.spans) {
      if (span.end < view.from || span.begin > view.to) continue;
      const x0 = Math.max(0, (span.begin - view.from) * perNs);
      const x1 = Math.min(width, (span.end - view.from) * perNs);
      context.fillStyle = colours[span.colour];
      context.fillRect(GUTTER + x0, top + 3, Math.max(1.5, x1 - x0 - 1), lane.height - 6);
      if (x1 - x0 > 60) {
        context.fillStyle = colours.panel;
        context.textAlign = 'left';
        context.fillText(clip(context, span.text, x1 - x0 - 10), GUTTER + x0 + 6, top + lane.height / 2);
      }
      drawn++;
    }
    return drawn;
  }

  function drawChosen(context, width, bottom) {
    if (chosen < 0 || rows.submit_begin_ns[chosen] === null) return;
    const perNs = width / (view.to - view.from);
    const x0 = (rows.submit_begin_ns[chosen] - view.from) * perNs;
    const x1 = (Math.max(rows.complete_ns[chosen] || 0, rows.submit_begin_ns[chosen]) - view.from) * perNs;
    if (x1 < 0 || x0 > width) return;
    context.strokeStyle = colours.ink;
    context.lineWidth = 1.5;
    context.strokeRect(GUTTER + Math.max(0, x0) - 1, 1, Math.max(2, Math.min(width, x1) - Math.max(0, x0)) + 2,
      bottom - 2);
  }

  function drawTimeline() {
    const canvas = byId('timeline');
    const height = lanes.reduce((sum, lane) => sum + lane.height + (lane.sub ? 0 : 8), 0) + 28;
    const area = begin(canvas, height);
    const {context} = area;
    const width = Math.max(50, Math.floor(area.width - GUTTER));
    timeAxis(area, GUTTER, 0, height - 24, view.from, view.to);
    hits = [];
    let top = 0;
    let batchesDrawn = 0;
    for (const lane of lanes) {
      if (!lane.sub) top += 8;
      context.fillStyle = lane.sub ? colours.quiet : colours.ink;
      context.textAlign = 'left';
      context.fillText(clip(context, lane.name, GUTTER - (lane.sub ? 26 : 14)), lane.sub ? 14 : 2,
        top + lane.height / 2);
      if (lane.kind === 'span') drawSpans(context, lane, top, width);
      else if (lane.kind === 'copies') drawCopies(context, lane, top, width);
      else if (lane.kind === 'commands') drawCommands(context, lane, top, width);
      else {
        const dense = visitBatches(lane, width, () => undefined) > width / 4;
        const drawn = (dense ? drawAggregate : drawSingly)(context, lane, top, width);
        if (lane === lanes[0]) batchesDrawn = drawn;
      }
      hits.push({lane, top, bottom: top + lane.height});
      top += lane.height;
    }
    drawChosen(context, width, height - 24);
    canvas.dataset.drawn = batchesDrawn;
    canvas.dataset.from = view.from;
    canvas.dataset.to = view.to;
    canvas.setAttribute('aria-label', `Timeline: ${whole.format(batchesDrawn)} batches between ` +
      `${nanoseconds(view.from - firstNs)} and ${nanoseconds(view.to - firstNs)}`);
    byId('timeline-range').textContent =
      `${nanoseconds(Math.max(0, view.from - firstNs))} to ${nanoseconds(Math.min(lastNs, view.to) - firstNs)}`;
  }

  let isDrawingDue = false;
  function timelineSoon() {
    if (isDrawingDue) return;
    isDrawingDue = true;
    requestAnimationFrame(() => {
      isDrawingDue = false;
      drawTimeline();
    });
  }

  function setView(from, to) {
    const least = 200;
    const whole_ = lastNs - firstNs;
    const size = Math.min(Math.max(to - from, Math.min(least, whole_)), whole_ * 1.02);
    const margin = whole_ * 0.01;
    from = Math.min(Math.max(from, firstNs - margin), lastNs + margin - size);
    view.from = from;
    view.to = from + size;
    timelineSoon();
  }
  const fit = () => setView(firstNs - (lastNs - firstNs) * 0.005, lastNs + (lastNs - firstNs) * 0.005);
  function zoom(factor, share) {
    const at = view.from + (view.to - view.from) * share;
    setView(at - (at - view.from) * factor, at + (view.to - at) * factor);
  }
  const pan = (share) => setView(view.from + (view.to - view.from) * share,
    view.to + (view.to - view.from) * share);

  /* The batch or the span nearest to a point; null when none is close. */
  function find(x, y) {
    const canvas = byId('timeline');
    const width = Math.max(50, Math.floor(canvas.clientWidth - GUTTER));
    const hit = hits.find((entry) => y >= entry.top - 4 && y <= entry.bottom + 4);
    if (!hit || x < GUTTER) return null;
    const ns = view.from + (x - GUTTER) / width * (view.to - view.from);
    const slack = 4 / width * (view.to - view.from);
    if (hit.lane.kind === 'span') {
      const span = hit.lane.spans.find((one) => one.begin - slack <= ns && ns <= one.end + slack);
      return span ? {span} : null;
    }
    let best = -1;
    let distance = slack;
    const saved = {from: view.from, to: view.to};
    view.from = ns - slack;
    view.to = ns + slack;
    visitBatches(hit.lane, 1, (i) => {
      const away = Math.max(0, hit.lane.begin[i] - ns, ns - hit.lane.end(i));
      if (away <= distance) {
        best = i;
        distance = away;
      }
    });
    Object.assign(view, saved);
    return best < 0 ? null : {batch: best};
  }

  function showTip(x, y) {
    const tip = byId('tip');
    const found = find(x, y);
    if (!found) {
      tip.hidden = true;
      return;
    }
    if (found.span) {
      tip.textContent = `${found.span.text}\n${nanoseconds(found.span.end - found.span.begin)}`;
    } else {
      const i = found.batch;
      tip.textContent = `${label(rows.label[i])} (batch ${rows.sequence[i]})\n` +
        `${wayName(rows.mode[i], rows.variant[i])}: ${names.why[rows.why[i]]}\n` +
        `predicted ${nanoseconds(rows.predicted_ns[i])}, measured ${nanoseconds(rows.wall_ns[i])}\n` +
        commandText(i).slice(0, 160);
    }
    tip.hidden = false;
    const box = byId('timeline-box').getBoundingClientRect();
    tip.style.left = Math.min(x + 14, box.width - tip.offsetWidth - 4) + 'px';
    tip.style.top = Math.max(0, y - tip.offsetHeight - 10) + 'px';
  }

  function neighbour(step) {
    if (shown.length === 0) return;
    let low = 0;
    let high = shown.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (shown[middle] < chosen) low = middle + 1;
      else high = middle;
    }
    const isThere = shown[low] === chosen;
    const at = chosen < 0 ? 0 : step > 0 ? low + (isThere ? 1 : 0) : low - 1;
    choose(shown[Math.min(Math.max(at, 0), shown.length - 1)], true);
  }

  function wireTimeline() {
    const canvas = byId('timeline');
    const share = (x) => Math.min(1, Math.max(0, (x - GUTTER) / (canvas.clientWidth - GUTTER)));
    let drag = null;
    canvas.addEventListener('wheel', (event) => {
      event.preventDefault();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        pan((event.deltaX || event.deltaY) / 900);
      } else {
        zoom(Math.exp(event.deltaY * 0.0016), share(event.offsetX));
      }
    }, {passive: false});
    canvas.addEventListener('pointerdown', (event) => {
      drag = {x: event.offsetX, from: view.from, to: view.to, moved: false};
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointermove', (event) => {
      if (!drag) {
        showTip(event.offsetX, event.offsetY);
        return;
      }
      const moved = event.offsetX - drag.x;
      if (Math.abs(moved) > 3) drag.moved = true;
      const ns = moved / (canvas.clientWidth - GUTTER) * (drag.to - drag.from);
      if (drag.moved) setView(drag.from - ns, drag.to - ns);
    });
    canvas.addEventListener('pointerup', (event) => {
      const found = drag && !drag.moved ? find(event.offsetX, event.offsetY) : null;
      drag = null;
      if (found && found.batch !== undefined) choose(found.batch, false);
    });
    canvas.addEventListener('pointerleave', () => { byId('tip').hidden = true; });
    canvas.addEventListener('keydown', (event) => {
      const actions = {ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), '+': () => zoom(0.7, 0.5),
        '=': () => zoom(0.7, 0.5), '-': () => zoom(1 / 0.7, 0.5), Home: fit, 0: fit,
        n: () => neighbour(1), p: () => neighbour(-1)};
      const action = actions[event.key] || actions[event.key.toLowerCase()];
      if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      action();
    });
    byId('zoom-in').addEventListener('click', () => zoom(0.5, 0.5));
    byId('zoom-out').addEventListener('click', () => zoom(2, 0.5));
    byId('zoom-fit').addEventListener('click', fit);
  }

  // ---- Charts

  function drawDecisions() {
    const canvas = byId('decisions');
    const reasons = [];
    names.why.forEach((_, why) => { if (data.end.by_why[why] > 0) reasons.push(why); });
    const rowHeight = 20;
    const shareHeight = 66;
    const area = begin(canvas, shareHeight + 12 + reasons.length * rowHeight + 26);
    const {context} = area;
    const width = Math.max(50, Math.floor(area.width - GUTTER));
    const bottom = area.height - 24;
    timeAxis(area, GUTTER, 0, bottom, firstNs, lastNs);
    const modes = names.mode.length;
    const buckets = Math.max(1, Math.floor(width / 3));
    const shares = new Float64Array(modes * (buckets + 1));
    const density = new Float64Array(names.why.length * (width + 1));
    // Each batch counts for the time that it took on its device.
    for (const i of shown) {
      const from = rows.device_begin_ns[i] === null ? rows.submit_begin_ns[i] : rows.device_begin_ns[i];
      const to = rows.device_end_ns[i] === null ? from : rows.device_end_ns[i];
      if (from === null) continue;
      const begin = (from - firstNs) / (lastNs - firstNs);
      const end = (to - firstNs) / (lastNs - firstNs);
      cover(shares, rows.mode[i] * (buckets + 1), buckets, begin * buckets, end * buckets, 1);
      cover(density, rows.why[i] * (width + 1), width, begin * width, end * width, 1);
    }
    for (let bucket = 0; bucket < buckets; bucket++) {
      let sum = 0;
      for (let mode = 0; mode < modes; mode++) sum += shares[mode * (buckets + 1) + bucket];
      let y = shareHeight;
      const x0 = Math.round(bucket * width / buckets);
      const x1 = Math.round((bucket + 1) * width / buckets);
      for (let mode = 0; mode < modes && sum > 0; mode++) {
        const height = shares[mode * (buckets + 1) + bucket] / sum * shareHeight;
        context.fillStyle = colours.modes[mode];
        context.fillRect(GUTTER + x0, y - height, x1 - x0, height);
        y -= height;
      }
    }
    context.textAlign = 'left';
    context.fillStyle = colours.ink;
    context.fillText('Share of time by mode', 2, shareHeight / 2);
    reasons.forEach((why, row) => {
      const top = shareHeight + 12 + row * rowHeight;
      context.fillStyle = colours.quiet;
      context.fillText(clip(context, names.why[why], GUTTER - 26), 14, top + rowHeight / 2);
      context.fillStyle = colours.accent;
      for (let pixel = 0; pixel < width; pixel++) {
        const value = density[why * (width + 1) + pixel];
        if (value === 0) continue;
        // At least two pixels wide, so that rare ones stay visible.
        const isAlone = value < 0.5 && !(density[why * (width + 1) + pixel + 1] > 0);
        context.globalAlpha = 0.35 + 0.65 * Math.min(1, value);
        context.fillRect(GUTTER + pixel, top + 3, isAlone ? 2 : 1, rowHeight - 6);
      }
      context.globalAlpha = 1;
    });
    canvas.setAttribute('aria-label', 'Share of the time by mode, and when each reason decided; the ' +
      'tables of modes, reasons and changes have the numbers.');
  }

  function median(values) {
    if (values.length === 0) return NaN;
    const sorted = Float64Array.from(values).sort();
    const middle = sorted.length >> 1;
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /* Measured over predicted time of the batches that have both. */
  function ratios(indices) {
    const list = [];
    for (const i of indices) {
      if (rows.predicted_ns[i] > 0 && rows.wall_ns[i] > 0) list.push(rows.wall_ns[i] / rows.predicted_ns[i]);
    }
    return list;
  }

  function drawScatter() {
    const canvas = byId('scatter');
    const area = begin(canvas, 250);
    const {context} = area;
    const left = 64;
    const bottom = area.height - 34;
    const width = Math.max(50, area.width - left - 8);
    let low = Infinity;
    let high = 0;
    for (const i of shown) {
      if (!(rows.predicted_ns[i] > 0 && rows.wall_ns[i] > 0)) continue;
      low = Math.min(low, rows.predicted_ns[i], rows.wall_ns[i]);
      high = Math.max(high, rows.predicted_ns[i], rows.wall_ns[i]);
    }
    const known = ratios(shown);
    const within = known.filter((ratio) => ratio >= 1 / 1.25 && ratio <= 1.25).length;
    byId('scatter-note').replaceChildren();
    canvas.setAttribute('aria-label', 'Measured against predicted time of each batch');
    if (known.length === 0) {
      byId('scatter-note').textContent = 'No batch has both a prediction and a measurement.';
      return;
    }
    low = Math.log10(low) - 0.06;
    high = Math.log10(high) + 0.06;
    const x = (value) => left + (Math.log10(value) - low) / (high - low) * width;
    const y = (value) => bottom - (Math.log10(value) - low) / (high - low) * (bottom - 6);
    context.strokeStyle = colours.grid;
    context.fillStyle = colours.quiet;
    // Only as many marks as have room for their texts.
    const digits = high - low > 4 ? [1] : [1, 2, 5];
    const marks = [];
    for (let power = Math.floor(low); power <= high; power++) {
      for (const digit of digits) {
        const value = digit * Math.pow(10, power);
        if (Math.log10(value) >= low && Math.log10(value) <= high) marks.push(value);
      }
    }
    let free = -Infinity; // the next text has room to the right of this
    for (const value of marks) {
      context.beginPath();
      context.moveTo(x(value), 6);
      context.lineTo(x(value), bottom);
      context.moveTo(left, y(value));
      context.lineTo(left + width, y(value));
      context.stroke();
      const text = nanoseconds(value).replace(/\.0+ /, ' ');
      const half = context.measureText(text).width / 2;
      context.textAlign = 'center';
      if (x(value) - half > free) {
        context.fillText(text, x(value), bottom + 11);
        free = x(value) + half + 8;
      }
      context.textAlign = 'right';
      context.fillText(nanoseconds(value).replace(/\.0+ /, ' '), left - 8, y(value));
    }
    context.textAlign = 'right';
    context.fillText('predicted →', left + width, bottom + 26);
    context.textAlign = 'left';
    context.fillText('↑ measured', left + 6, 14);
    context.strokeStyle = colours.quiet;
    context.setLineDash([4, 4]);
    context.beginPath();
    context.moveTo(x(Math.pow(10, low)), y(Math.pow(10, low)));
    context.lineTo(x(Math.pow(10, high)), y(Math.pow(10, high)));
    context.stroke();
    context.setLineDash([]);
    const step = Math.max(1, Math.ceil(shown.length / 20000));
    context.globalAlpha = shown.length > 3000 ? 0.25 : 0.5;
    for (let at = 0; at < shown.length; at += step) {
      const i = shown[at];
      if (!(rows.predicted_ns[i] > 0 && rows.wall_ns[i] > 0)) continue;
      context.fillStyle = colours.modes[rows.mode[i]];
      context.fillRect(x(rows.predicted_ns[i]) - 1.5, y(rows.wall_ns[i]) - 1.5, 3, 3);
    }
    context.globalAlpha = 1;
    byId('scatter-note').append('Measured is ', exact(median(known), median(known).toFixed(2) + '×'),
      ' the prediction (median); ', exact(within / known.length, percent(within / known.length)),
      ' of the batches are within 25 % of it.');
    byId('scatter-note').dataset.count = known.length;
  }

  function drawSaved() {
    const canvas = byId('saved');
    const area = begin(canvas, 250);
    const {context} = area;
    const left = 64;
    const bottom = area.height - 34;
    const width = Math.max(50, area.width - left - 8);
    const points = Math.max(2, Math.floor(width));
    const savings = new Float64Array(points);
    const regrets = new Float64Array(points);
    for (const i of shown) {
      const at = rows.complete_ns[i] === null ? 0 : (rows.complete_ns[i] - firstNs) / (lastNs - firstNs);
      const point = Math.min(points - 1, Math.max(0, Math.floor(at * points)));
      savings[point] += rows.saved_ns[i];
      regrets[point] += regret[i];
    }
    let high = 1;
    let low = 0;
    for (let i = 1; i < points; i++) {
      savings[i] += savings[i - 1];
      regrets[i] += regrets[i - 1];
    }
    for (let i = 0; i < points; i++) {
      high = Math.max(high, savings[i], regrets[i]);
      low = Math.min(low, savings[i]);
    }
    high += (high - low) * 0.14;
    if (low < 0) low -= (high - low) * 0.1;
    const y = (value) => bottom - (value - low) / (high - low) * (bottom - 6);
    context.fillStyle = colours.quiet;
    context.strokeStyle = colours.grid;
    for (const value of ticks(low, high, 5).list) {
      context.beginPath();
      context.moveTo(left, y(value));
      context.lineTo(left + width, y(value));
      context.stroke();
      context.textAlign = 'right';
      context.fillText(nanoseconds(value).replace(/\.0+ /, ' '), left - 8, y(value));
    }
    const scale = {context, width: left + width, height: area.height};
    timeAxis(scale, left, bottom, bottom, firstNs, lastNs);
    const line = (values, colour, name, above) => {
      context.strokeStyle = context.fillStyle = colour;
      context.lineWidth = 2;
      context.beginPath();
      for (let i = 0; i < points; i++) context.lineTo(left + i, y(values[i]));
      context.stroke();
      context.textAlign = 'right';
      // Inside the chart, on the side that has room.
      const wanted = y(values[points - 1]) + (above ? -14 : 14);
      const at = Math.max(10, wanted > bottom - 6 ? y(values[points - 1]) - 14 : wanted);
      const text = `${name} ${nanoseconds(values[points - 1])}`;
      const wide = context.measureText(text).width;
      context.globalAlpha = 0.8;
      context.fillStyle = colours.panel;
      context.fillRect(left + width - wide - 8, at - 8, wide + 8, 16);
      context.globalAlpha = 1;
      context.fillStyle = colour;
      context.fillText(text, left + width - 4, at);
    };
    line(savings, colours.good, 'saved', savings[points - 1] > regrets[points - 1]);
    line(regrets, colours.bad, 'regret', true);
    canvas.setAttribute('aria-label', `Saved ${nanoseconds(savings[points - 1])}, regret ` +
      nanoseconds(regrets[points - 1]));
  }

  // ---- Summary

  function sum(column) {
    let total = 0;
    for (const i of shown) total += column[i];
    return total;
  }

  function card(id, name, value, text, note, style) {
    const element = make('div', {class: 'card'}, make('span', {class: 'name'}, name),
      make('span', {class: 'value ' + (style || '')}, exact(value, text)), make('span', {class: 'note'}, note));
    element.querySelector('data').id = id;
    return element;
  }

  /* When all batches are shown, the totals are the recorder's: exact even if it kept only some batches. */
  function drawCards() {
    const isAll = shown.length === count;
    const end = data.end;
    const batches = isAll ? end.batches_seen : shown.length;
    const wall = isAll ? end.wall_ns : sum(rows.wall_ns);
    const savedNs = isAll ? end.saved_ns : sum(rows.saved_ns);
    let dispatches = isAll ? end.commands[0] : 0;
    let copied = isAll ? end.copied_bytes : 0;
    let failed = 0;
    if (isAll) {
      failed = end.batches_seen - end.by_status[0];
    } else {
      for (const i of shown) {
        dispatches += data.works[rows.work[i]][0];
        copied += data.works[rows.work[i]][5];
        failed += rows.status[i] !== 0;
      }
    }
    const regretNs = sum(regret);
    const keptWall = sum(rows.wall_ns);
    const ratio = median(ratios(shown));
    const without = wall + savedNs;
    byId('cards').replaceChildren(
      card('card-batches', 'Batches', batches, whole.format(batches),
        failed ? `${whole.format(failed)} failed` : 'none failed'),
      card('card-dispatches', 'Dispatches', dispatches, whole.format(dispatches), bytes(copied) + ' copied'),
      card('card-wall', 'Time in batches', wall, nanoseconds(wall),
        batches ? nanoseconds(wall / batches) + ' per batch' : ''),
      card('card-saved', 'Saved against plain', savedNs, nanoseconds(savedNs),
        without > 0 ? percent(savedNs / without) + ' of the time' : '', savedNs > 0 ? 'good' : ''),
      card('card-regret', 'Regret', regretNs, nanoseconds(regretNs),
        keptWall > 0 ? percent(regretNs / keptWall) + ' of the time' : ''),
      card('card-ratio', 'Measured / predicted', Number.isFinite(ratio) ? ratio : 0,
        Number.isFinite(ratio) ? ratio.toFixed(2) + '×' : 'not known', 'median'));
  }

  // ---- The selected batch

  function fact(name, value) {
    return make('div', null, make('dt', null, name), make('dd', null, value));
  }

  function candidateTable(candidates, i) {
    const body = make('tbody');
    for (const candidate of candidates) {
      const isOut = candidate.state === 0;
      const isChosen = candidate.mode === rows.mode[i] && candidate.variant === rows.variant[i];
      body.append(make('tr', {class: isChosen ? 'chosen' : isOut ? 'out' : ''},
        make('th', {scope: 'row'}, modeTag(candidate.mode, wayName(candidate.mode, candidate.variant))),
        make('td', {class: 'number'}, isOut ? '–' : exact(candidate.predicted, nanoseconds(candidate.predicted))),
        make('td', {class: 'number'}, candidate.count ? exact(candidate.measured, nanoseconds(candidate.measured)) : '–'),
        make('td', {class: 'number'}, exact(candidate.count, whole.format(candidate.count))),
        make('td', null, names.state[candidate.state]),
        make('td', null, names.reason[candidate.reason])));
    }
    return make('div', {class: 'scroll'}, make('table', {id: 'candidates'},
      make('caption', null, 'Candidates: what each would have cost, and why it was or was not chosen'),
      make('thead', null, make('tr', null, make('th', {scope: 'col'}, 'Way'),
        make('th', {scope: 'col', class: 'number'}, 'Predicted'),
        make('th', {scope: 'col', class: 'number'}, 'Measured mean'),
        make('th', {scope: 'col', class: 'number'}, 'Measurements'),
        make('th', {scope: 'col'}, 'State'), make('th', {scope: 'col'}, 'Reason'))), body));
  }

  /* The comparison behind this batch's decision: its own, or the last one of its shape before it. */
  function comparisonOf(i) {
    for (let at = i; at >= 0; at--) {
      if (shapeKey[at] === shapeKey[i] && candidatesOf.has(at)) return at;
    }
    return -1;
  }

  function sentence(i) {
    const ratio = rows.predicted_ns[i] > 0 && rows.wall_ns[i] > 0
      ? `it took ${(rows.wall_ns[i] / rows.predicted_ns[i]).toFixed(2)}× what was predicted`
      : 'there is no prediction to compare its time with';
    const saving = rows.saved_ns[i] === 0 ? '' : rows.saved_ns[i] > 0
      ? `, and saved ${nanoseconds(rows.saved_ns[i])} against plain`
      : `, and lost ${nanoseconds(-rows.saved_ns[i])} against plain`;
    return `Ran as ${wayName(rows.mode[i], rows.variant[i])} (${names.why[rows.why[i]]}); ${ratio}${saving}.`;
  }

  function choose(i, isMove) {
    chosen = i;
    const work = data.works[rows.work[i]];
    const commands = names.command.map((name, kind) => work[kind] ? `${whole.format(work[kind])} ${name}` : '')
      .filter(Boolean).join(', ');
    const kernels = make('span');
    for (let at = 6; at < work.length; at += 2) {
      kernels.append(at > 6 ? ', ' : '', make('bdi', null, label(work[at])), ` ×${whole.format(work[at + 1])}`);
    }
    const compared = comparisonOf(i);
    const parts = [
      make('p', {class: 'sentence'}, sentence(i)),
      make('dl', {class: 'facts'},
        fact('Batch', make('span', null, make('bdi', null, label(rows.label[i])), ', number ', exact(rows.sequence[i], rows.sequence[i]))),
        fact('Device', `${data.devices[rows.device[i] - 1].backend}: ${deviceName(rows.device[i])}`),
        fact('Status', names.status[rows.status[i]]),
        fact('Predicted', exact(rows.predicted_ns[i], nanoseconds(rows.predicted_ns[i]))),
        fact('Measured', exact(rows.wall_ns[i], nanoseconds(rows.wall_ns[i]))),
        fact('In submit', exact(rows.submit_ns[i], nanoseconds(rows.submit_ns[i]))),
        fact('On the device', rows.derived[i] ? 'not measured' : exact(rows.device_ns[i], nanoseconds(rows.device_ns[i]))),
        fact('Saved against plain', exact(rows.saved_ns[i], nanoseconds(rows.saved_ns[i]))),
        fact('Repeats', rows.repeat_hint[i] ? `seen ${whole.format(rows.repeats_seen[i])}, announced ` +
          whole.format(rows.repeat_hint[i]) : `seen ${whole.format(rows.repeats_seen[i])}`),
        fact('Commands', commands || 'none'),
        fact('Copied', exact(work[5], bytes(work[5]))),
        fact('Kernels', kernels.firstChild ? kernels : 'none'),
        fact('Shape', data.shapes[rows.shape[i]].slice(0, 16) + '…'))];
    if (compared >= 0) {
      if (compared !== i) parts.push(make('p', {class: 'quiet small'},
        `No new comparison was made: the candidates are those of batch ${rows.sequence[compared]}.`));
      parts.push(candidateTable(candidatesOf.get(compared), i));
    }
    byId('detail-body').replaceChildren(...parts);
    byId('detail').dataset.batch = i;
    for (const row of document.querySelectorAll('tr[data-batch]')) {
      row.setAttribute('aria-selected', String(Number(row.dataset.batch) === i));
    }
    const begin_ = rows.submit_begin_ns[i];
    if (isMove && begin_ !== null && (begin_ < view.from || begin_ > view.to)) {
      const size = view.to - view.from;
      setView(begin_ - size / 2, begin_ + size / 2);
    } else {
      timelineSoon();
    }
  }

  // ---- Tables

  /*
   * A table that sorts by its columns and shows a page at a time. A column has a name, a value to sort
   * by, and a cell to show; `rows` are whatever those two take. `batch` makes rows lead to a batch.
   */
  function table(options) {
    const pageSize = options.pageSize || 25;
    let items = [];
    let page = 0;
    let sort = options.sort || {column: 0, descending: false};
    const head = make('tr');
    const body = make('tbody');
    const pager = make('div', {class: 'pager'});
    const caption = make('caption');
    const element = make('table', {id: options.id}, caption, make('thead', null, head), body);
    options.columns.forEach((column, index) => {
      const button = make('button', {type: 'button'}, column.name);
      const cell = make('th', {scope: 'col', class: column.number ? 'number' : ''}, button);
      button.addEventListener('click', () => {
        sort = {column: index, descending: sort.column === index ? !sort.descending : !!column.number};
        page = 0;
        render();
      });
      head.append(cell);
    });

    function render() {
      const column = options.columns[sort.column];
      const sign = sort.descending ? -1 : 1;
      items.sort((a, b) => {
        const left = column.value(a);
        const right = column.value(b);
        return left < right ? -sign : left > right ? sign : 0;
      });
      [...head.children].forEach((cell, index) => cell.setAttribute('aria-sort',
        index !== sort.column ? 'none' : sort.descending ? 'descending' : 'ascending'));
      const pages = Math.max(1, Math.ceil(items.length / pageSize));
      page = Math.min(page, pages - 1);
      body.replaceChildren();
      for (const item of items.slice(page * pageSize, (page + 1) * pageSize)) {
        const row = make('tr');
        for (const one of options.columns) {
          row.append(make('td', {class: one.number ? 'number' : ''}, one.cell(item)));
        }
        if (options.batch) {
          row.tabIndex = 0;
          row.dataset.batch = options.batch(item);
          row.setAttribute('aria-selected', String(options.batch(item) === chosen));
        }
        body.append(row);
      }
      caption.textContent = options.caption(items.length);
      element.dataset.rows = items.length;
      pager.replaceChildren();
      if (pages > 1) {
        const turn = (name, to, isOff) => {
          const button = make('button', {type: 'button', class: 'plain'}, name);
          button.disabled = isOff;
          button.addEventListener('click', () => {
            page = to;
            render();
          });
          return button;
        };
        pager.append(turn('Previous', page - 1, page === 0),
          `Page ${whole.format(page + 1)} of ${whole.format(pages)}`,
          turn('Next', page + 1, page === pages - 1));
      }
    }
    if (options.batch) {
      body.addEventListener('click', (event) => {
        const row = event.target.closest('tr');
        if (row) choose(Number(row.dataset.batch), true);
      });
      body.addEventListener('keydown', (event) => {
        const row = event.target.closest('tr');
        if (!row) return;
        const to = event.key === 'ArrowDown' ? row.nextElementSibling
          : event.key === 'ArrowUp' ? row.previousElementSibling : null;
        if (to) to.focus();
        else if (event.key === 'Enter' || event.key === ' ') choose(Number(row.dataset.batch), true);
        else return;
        event.preventDefault();
      });
    }
    const box = make('div', null, make('div', {class: 'scroll'}, element), pager);
    return {box, set(list) {
      items = list;
      page = 0;
      render();
    }};
  }

  const time = (value) => exact(value, nanoseconds(value));
  const number = (value) => exact(value, whole.format(value));

  function groups(keyOf, weightOf) {
    const list = new Map();
    for (const i of shown) {
      for (const key of keyOf(i)) {
        let entry = list.get(key);
        if (!entry) list.set(key, entry = {key, batches: 0, dispatches: 0, wall: 0, saved: 0, regret: 0, first: i});
        entry.batches++;
        entry.dispatches += weightOf ? weightOf(i, key) : data.works[rows.work[i]][0];
        entry.wall += rows.wall_ns[i];
        entry.saved += rows.saved_ns[i];
        entry.regret += regret[i];
      }
    }
    return [...list.values()];
  }

  function sums(first) {
    return [first,
      {name: 'Batches', number: true, value: (e) => e.batches, cell: (e) => number(e.batches)},
      {name: 'Dispatches', number: true, value: (e) => e.dispatches, cell: (e) => number(e.dispatches)},
      {name: 'Measured', number: true, value: (e) => e.wall, cell: (e) => time(e.wall)},
      {name: 'Mean', number: true, value: (e) => e.wall / e.batches, cell: (e) => time(Math.round(e.wall / e.batches))},
      {name: 'Saved', number: true, value: (e) => e.saved, cell: (e) => time(e.saved)},
      {name: 'Regret', number: true, value: (e) => e.regret, cell: (e) => time(e.regret)}];
  }

  function dispatchesOf(i, kernel) {
    const work = data.works[rows.work[i]];
    for (let at = 6; at < work.length; at += 2) if (work[at] === kernel) return work[at + 1];
    return 0;
  }

  const tables = [
    {tab: 'Batches', table: table({id: 'table-batches', batch: (i) => i,
      caption: (n) => `Batches shown: ${whole.format(n)}. Enter shows one above.`,
      columns: [
        {name: 'Number', number: true, value: (i) => i, cell: (i) => number(rows.sequence[i])},
        {name: 'Batch', value: (i) => label(rows.label[i]), cell: (i) => label(rows.label[i])},
        {name: 'Mode', value: (i) => rows.mode[i] * 256 + rows.variant[i],
          cell: (i) => modeTag(rows.mode[i], wayName(rows.mode[i], rows.variant[i]))},
        {name: 'Reason', value: (i) => names.why[rows.why[i]], cell: (i) => names.why[rows.why[i]]},
        {name: 'Begin', number: true, value: (i) => rows.submit_begin_ns[i],
          cell: (i) => rows.submit_begin_ns[i] === null ? 'not known' : time(rows.submit_begin_ns[i])},
        {name: 'Predicted', number: true, value: (i) => rows.predicted_ns[i], cell: (i) => time(rows.predicted_ns[i])},
        {name: 'Measured', number: true, value: (i) => rows.wall_ns[i], cell: (i) => time(rows.wall_ns[i])},
        {name: 'Saved', number: true, value: (i) => rows.saved_ns[i], cell: (i) => time(rows.saved_ns[i])},
        {name: 'Status', value: (i) => rows.status[i], cell: (i) => names.status[rows.status[i]]}]}),
    list: () => Array.from(shown)},
    {tab: 'Changes of decision', table: table({id: 'table-changes', batch: (change) => change.batch,
      caption: (n) => `Batches that ran another way than the previous batch of their shape: ${whole.format(n)}.`,
      columns: [
        {name: 'Number', number: true, value: (c) => c.batch, cell: (c) => number(rows.sequence[c.batch])},
        {name: 'Batch', value: (c) => label(rows.label[c.batch]), cell: (c) => label(rows.label[c.batch])},
        {name: 'From', value: (c) => c.from === null ? -1 : c.from,
          cell: (c) => c.from === null ? 'first seen' : modeTag(c.from >> 8, wayName(c.from >> 8, c.from & 255))},
        {name: 'To', value: (c) => rows.mode[c.batch],
          cell: (c) => modeTag(rows.mode[c.batch], wayName(rows.mode[c.batch], rows.variant[c.batch]))},
        {name: 'Reason', value: (c) => names.why[rows.why[c.batch]], cell: (c) => names.why[rows.why[c.batch]]},
        {name: 'Predicted', number: true, value: (c) => rows.predicted_ns[c.batch], cell: (c) => time(rows.predicted_ns[c.batch])},
        {name: 'Measured', number: true, value: (c) => rows.wall_ns[c.batch], cell: (c) => time(rows.wall_ns[c.batch])}]}),
    list: () => {
      const isShown = new Uint8Array(count);
      for (const i of shown) isShown[i] = 1;
      return changes.filter((change) => isShown[change.batch]);
    }},
    {tab: 'Modes', table: table({id: 'table-modes', caption: () => 'Batches by mode',
      columns: sums({name: 'Mode', value: (e) => e.key,
        cell: (e) => modeTag(e.key >> 8, wayName(e.key >> 8, e.key & 255))})}),
    list: () => groups((i) => [rows.mode[i] * 256 + rows.variant[i]])},
    {tab: 'Reasons', table: table({id: 'table-reasons', caption: () => 'Batches by the reason for their decision',
      columns: sums({name: 'Reason', value: (e) => names.why[e.key], cell: (e) => names.why[e.key]})}),
    list: () => groups((i) => [rows.why[i]])},
    {tab: 'Kernels', table: table({id: 'table-kernels', caption: () => 'Kernels, with the batches that ' +
        'dispatch them; a batch with several kernels counts for each',
      columns: sums({name: 'Kernel', value: (e) => label(e.key), cell: (e) => label(e.key)})}),
    list: () => groups((i) => [...usesKernel[rows.work[i]]], dispatchesOf)},
    {tab: 'Shapes', table: table({id: 'table-shapes', sort: {column: 6, descending: true},
      caption: () => 'Shapes of work, each with the way that measured best in its last comparison',
      batch: (e) => e.first,
      columns: sums({name: 'Batch', value: (e) => label(rows.label[e.first]), cell: (e) => label(rows.label[e.first])})
        .concat([{name: 'Best measured', value: (e) => shapes[e.key].best ? shapes[e.key].best.measured : 0,
          cell: (e) => shapes[e.key].best ? modeTag(shapes[e.key].best.mode,
            `${wayName(shapes[e.key].best.mode, shapes[e.key].best.variant)}, ` +
            nanoseconds(shapes[e.key].best.measured)) : 'nothing measured'}])}),
    list: () => groups((i) => [shapeKey[i]])},
  ];

  function devicePane() {
    const pane = make('div');
    data.devices.forEach((device, index) => {
      pane.append(make('h3', null, `${device.backend}: ${deviceName(index + 1)}`),
        make('dl', {class: 'facts'}, fact('Driver', device.driver), fact('Kind', device.kind),
          fact('Label', device.label || '(none)'), fact('UUID', /^0*$/.test(device.uuid) ? 'none' : device.uuid),
          fact('Calibration', device.calibration ? new Date(device.calibration.taken_s * 1000).toISOString()
            .replace('T', ' ').slice(0, 16) + ' UTC, took ' + nanoseconds(device.calibration.took_ns) : 'none')));
      const abilities = make('tbody');
      device.abilities.forEach((ability, i) => abilities.append(make('tr', null,
        make('th', {scope: 'row'}, names.ability[i]),
        make('td', {class: 'number'}, ability[0] ? number(ability[0]) : 'absent'), make('td', null, ability[1]))));
      const parts = [make('details', null, make('summary', null, 'Abilities'), make('div', {class: 'scroll'},
        make('table', null, make('caption', null, 'What the device can do'), make('thead', null, make('tr', null,
          make('th', {scope: 'col'}, 'Ability'), make('th', {scope: 'col', class: 'number'}, 'Value'),
          make('th', {scope: 'col'}, 'If absent, why'))), abilities)))];
      if (device.calibration) {
        const costs = make('tbody');
        device.calibration.costs.forEach((cost, i) => {
          if (cost[0]) costs.append(make('tr', null, make('th', {scope: 'row'}, names.cost[i]),
            ...[cost[4], cost[3], cost[5], cost[6]].map((ns) => make('td', {class: 'number'}, time(ns))),
            make('td', {class: 'number'}, number(cost[2])), make('td', null, cost[1] ? 'noisy' : '')));
        });
        parts.push(make('details', null, make('summary', null, 'Calibrated costs'), make('div', {class: 'scroll'},
          make('table', null, make('caption', null, 'What launching costs on this device'), make('thead', null,
            make('tr', null, make('th', {scope: 'col'}, 'Cost'), ...['Median', 'Least', 'Spread', 'Confidence ±', 'Samples']
              .map((name) => make('th', {scope: 'col', class: 'number'}, name)), make('th', {scope: 'col'}, 'Mark'))), costs))));
      }
      pane.append(...parts, make('br'));
    });
    return pane;
  }

  function buildTabs() {
    const entries = tables.map((entry) => ({name: entry.tab, box: entry.table.box}))
      .concat([{name: 'Devices', box: devicePane()}]);
    const buttons = entries.map((entry, i) => {
      const button = make('button', {type: 'button', role: 'tab', id: 'tab-' + i, 'aria-controls': 'pane-' + i}, entry.name);
      const pane = make('div', {role: 'tabpanel', id: 'pane-' + i, 'aria-labelledby': 'tab-' + i}, entry.box);
      byId('tabs').append(button);
      byId('panes').append(pane);
      return {button, pane};
    });
    function select(index) {
      buttons.forEach(({button, pane}, i) => {
        button.setAttribute('aria-selected', String(i === index));
        button.tabIndex = i === index ? 0 : -1;
        pane.hidden = i !== index;
      });
    }
    buttons.forEach(({button}, i) => {
      button.addEventListener('click', () => select(i));
      button.addEventListener('keydown', (event) => {
        const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? buttons.length - 1 : 0;
        if (step === 0) return;
        event.preventDefault();
        const to = (i + step) % buttons.length;
        select(to);
        buttons[to].button.focus();
      });
    });
    select(0);
  }

  // ---- The page

  function legend(id, entries) {
    byId(id).replaceChildren(...entries.map(([colour, name]) => make('span', null, swatch(colour), name)));
  }

  function writeHead() {
    const used = new Set(rows.mode);
    const modeEntries = names.mode.map((name, i) => ['--mode-' + i, name]).filter((_, i) => used.has(i));
    // Only kinds that the record has.
    const others = [[rows.status.some((status) => status !== 0), '--bad', 'failed'],
      [data.kernels.length > 0, '--compile', 'compile'],
      [data.recordings.length > 0, '--record', 'recording'],
      [count > 0, '--command', 'commands per time'],
      [data.end.copied_bytes > 0, '--copy', 'copied bytes per time'],
      [data.leases.length > 0, '--lease', 'lease of a resident kernel']];
    legend('timeline-legend', modeEntries.concat(others.filter((entry) => entry[0])
      .map((entry) => entry.slice(1))));
    if (rows.derived.some((derived) => derived)) {
      byId('timeline-legend').append(make('span', null, 'paler: time on the device not measured'));
    }
    legend('decisions-legend', modeEntries);
    byId('title').textContent = data.source;
    document.title = data.source + ' – Vyre report';
    const started = new Date(data.start_unix_ns / 1e6).toISOString().replace('T', ' ').slice(0, 19);
    byId('subtitle').textContent = data.devices.map((device, i) =>
      `${device.backend}: ${deviceName(i + 1)} (${device.driver})`).join('  ·  ') + `  ·  ${started} UTC`;
    byId('footer').textContent = `Recorded by Vyre ${data.vyre}. This file is self-contained.`;
    const notes = [];
    if (data.end.batches_seen > count) {
      notes.push(`The record kept ${whole.format(count)} of ${whole.format(data.end.batches_seen)} batches, ` +
        'fewer as it came near its size limit. The totals at the top are exact; charts and tables show what was kept.');
    }
    if (!data.end.closed) notes.push('The program ended without closing its record: the last batches may be missing.');
    byId('notice').hidden = notes.length === 0;
    byId('notice').textContent = notes.join(' ');
  }

  function drawAll() {
    readColours();
    drawTimeline();
    drawDecisions();
    drawScatter();
    drawSaved();
  }

  function refresh() {
    buildLanes();
    drawCards();
    for (const entry of tables) entry.table.set(entry.list());
    drawAll();
  }

  function wireTheme() {
    const button = byId('theme');
    const dark = window.matchMedia('(prefers-color-scheme: dark)');
    const isDark = () => document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === 'dark' : dark.matches;
    const update = () => {
      button.textContent = isDark() ? 'Light theme' : 'Dark theme';
      button.setAttribute('aria-pressed', String(isDark()));
    };
    button.addEventListener('click', () => {
      document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
      update();
      drawAll();
    });
    dark.addEventListener('change', () => {
      update();
      drawAll();
    });
    update();
  }

  fillFilters();
  buildTabs();
  writeHead();
  wireTimeline();
  wireTheme();
  readColours();
  applyFilters();
  fit();
  window.addEventListener('resize', drawAll);
  document.documentElement.dataset.ready = 'yes';
})();
