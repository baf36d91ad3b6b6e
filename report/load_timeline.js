// The timeline of a report: clients and time, drawn on a canvas from the data that report/load_timeline.c wrote. It uses no
// network and no other script, and changes nothing but its own part of the page.
'use strict';
(() => {
const $ = id => document.getElementById(id);
const source = $('tl-data');
if (!source)
    return;
const data = JSON.parse(source.textContent);
const OUTCOMES = ['ok', 'fail', 'info'], OUTCOME_WORDS = ['acknowledged', 'failed', 'unknown fate'];
const WHYS = 5, TABLE_ROWS = 200, HIT_PX = 6;

// -- the data -------------------------------------------------------------------------------------------------------

function reader(base64) {
    const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0));
    let at = 0;
    const number = () => {
        let value = 0, scale = 1, byte;
        do {
            byte = bytes[at++];
            value += (byte & 127) * scale;
            scale *= 128;
        } while (byte > 127);
        return value;
    };
    // Beyond 2^53 digits would be lost: these are read as texts of digits.
    const big = () => {
        let value = 0n, shift = 0n, byte;
        do {
            byte = bytes[at++];
            value |= BigInt(byte & 127) << shift;
            shift += 7n;
        } while (byte > 127);
        return String(value & 1n ? -(value + 1n >> 1n) : value >> 1n);
    };
    const signed = () => {
        const value = number();
        return value % 2 ? -(value + 1) / 2 : value / 2;
    };
    return {number, signed, big, more: () => at < bytes.length};
}

function readOp(from) {
    const head = from.number(), kind = data.kinds[head >> 3], state = head >> 1 & 3;
    const op = {name: kind[0], key: data.texts[from.number()], value: '?', count: 0};
    if (kind[2])
        op.count = from.number();
    const has = kind[2] ? op.count > 0 : !kind[1] || state === 2;
    if (has)
        op.value = head & 1 ? data.texts[from.number()] : from.big();
    if (kind[2] && state === 2)
        op.value = op.count === 0 ? '[]' : op.count === 1 ? `[${op.value}]` : `[\u2026 ${op.value}] (${op.count} elements)`;
    else if (kind[1] && state === 1)
        op.value = 'nil';
    return op;
}

const rowAt = new Map(data.rows.map((row, i) => [row[0], i]));

function readBars() {
    const from = reader(data.bars), bars = [];
    let name = 0, start = 0;
    while (from.more()) {
        name += from.signed();
        start += from.signed();
        const took = from.number(), process = from.signed(), flags = from.number();
        const node = flags & 64 ? data.texts[from.number()] : '';
        const client = data.clients > 0 ? process % data.clients : process;
        const bar = {name, start, end: took ? start + took - 1 : Infinity, process, client, node,
            row: rowAt.get(Math.max(client, 0) % data.row_count), outcome: flags & 3, writes: flags & 4,
            why: flags >> 3 & 7, ops: [], shown: true};
        for (let left = from.number(); left > 0; left--)
            bar.ops.push(readOp(from));
        bars.push(bar);
    }
    return bars.sort((a, b) => a.start - b.start || a.name - b.name);
}

// How many completed in each slot, by row and outcome; nothing where every transaction is in the page.
function readBins() {
    const from = reader(data.bins), bins = [];
    for (let row = 0; row < data.rows.length && from.more(); row++) {
        const counts = [];
        for (let i = 0; i < data.slots; i++)
            counts.push([from.number(), from.number(), from.number()]);
        bins.push(counts);
    }
    return bins;
}

const bars = readBars(), bins = readBins(), byName = new Map(bars.map(bar => [bar.name, bar]));
const span = Math.max(1, bars.reduce((most, bar) => bar.end < Infinity && bar.end > most ? bar.end : most, data.span));
const longest = bars.reduce((most, bar) => bar.end < Infinity ? Math.max(most, bar.end - bar.start) : most, 0);
const opens = bars.filter(bar => bar.end === Infinity);
const witnesses = data.witnesses.map(([name, ...txns]) => ({name, txns: txns.map(t => byName.get(t)).filter(Boolean)}));
const nodes = [...new Set(bars.map(bar => bar.node).filter(Boolean))].sort();
const binMost = bins.reduce((most, row) => row.reduce((m, c) => Math.max(m, c[0] + c[1] + c[2]), most), 1);

// -- the state ------------------------------------------------------------------------------------------------------

const canvas = $('tl-canvas'), map = $('tl-map');
const view = {from: 0, to: span};
let chosen = null, witness = null, colours = {}, width = 0, gutter = 0, rowHeight = 0, scheduled = false;
const TOP = 20, BOTTOM = 22, NODE_COLOURS = ['--link', '--good', '--open', '--n3', '--n4', '--n5', '--bad', '--dim'];

const seconds = t => t * data.unit_ns / 1e9;
function showTime(t, step) {
    const s = seconds(t), digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(seconds(step) || 1e-9) - 1e-9)));
    return `${s.toFixed(digits)} s`;
}
function showLength(t) {
    const ns = t * data.unit_ns;
    return ns >= 1e9 ? `${(ns / 1e9).toPrecision(3)} s` : ns >= 1e6 ? `${(ns / 1e6).toPrecision(3)} ms`
        : ns >= 1e3 ? `${(ns / 1e3).toPrecision(3)} us` : `${ns} ns`;
}
const opText = op => `${op.name} ${op.key} ${op.value}`;

function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['--ink', '--dim', '--line', '--bg', '--card', '--bad', '--good', '--open', '--openbg', '--link',
        '--n3', '--n4', '--n5'])
        colours[name] = style.getPropertyValue(name).trim();
}

const x = t => gutter + (t - view.from) / (view.to - view.from) * (width - gutter);
const t = px => view.from + (px - gutter) / (width - gutter) * (view.to - view.from);
const y = row => TOP + row * rowHeight;

// -- drawing --------------------------------------------------------------------------------------------------------

function fit(element, height) {
    const ratio = window.devicePixelRatio || 1, cssWidth = element.clientWidth;
    element.style.height = `${height}px`;
    if (element.width !== Math.round(cssWidth * ratio) || element.height !== Math.round(height * ratio)) {
        element.width = Math.round(cssWidth * ratio);
        element.height = Math.round(height * ratio);
    }
    const c = element.getContext('2d');
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, cssWidth, height);
    return c;
}

// 1, 2 or 5 times a power of ten, for about one tick in 110 pixels.
function tickStep(length, pixels) {
    const least = length / Math.max(2, pixels / 110), step = 10 ** Math.floor(Math.log10(least));
    return step * [1, 2, 5, 10].find(more => step * more >= least);
}

function drawAxis(c, height) {
    const step = tickStep(view.to - view.from, width - gutter);
    c.strokeStyle = colours['--line'];
    c.fillStyle = colours['--dim'];
    c.textAlign = 'center';
    for (let i = Math.ceil(view.from / step); i * step <= view.to; i++) {
        const at = Math.round(x(i * step)) + 0.5, text = showTime(i * step, step);
        c.beginPath();
        c.moveTo(at, TOP);
        c.lineTo(at, height - BOTTOM);
        c.stroke();
        if (at > gutter + 20 && at < width - 24)
            c.fillText(text, at, height - 7);
    }
}

function drawFaults(c, height) {
    let free = gutter;
    c.textAlign = 'left';
    for (const [from, to, name] of data.faults) {
        const left = Math.max(gutter, x(from)), right = Math.min(width, to < 0 ? width : x(to));
        if (right < gutter || left > width)
            continue;
        c.globalAlpha = 0.16;
        c.fillStyle = colours['--open'];
        c.fillRect(left, TOP, Math.max(right - left, 1), height - TOP - BOTTOM);
        c.globalAlpha = 1;
        c.fillRect(left, TOP - 3, Math.max(right - left, 1), 3);
        const label = name.split(',')[0];
        if (left >= free && left + c.measureText(label).width < width) {
            c.fillText(label, left, TOP - 7);
            free = left + c.measureText(label).width + 14;
        }
    }
}

function drawRows(c, height) {
    const step = Math.ceil(13 / rowHeight), short = gutter < 60;
    c.textAlign = 'right';
    for (let row = 0; row < data.rows.length; row++) {
        if (row % 2 === 0) {
            c.fillStyle = colours['--card'];
            c.fillRect(gutter, y(row), width - gutter, rowHeight);
        }
        c.fillStyle = colours['--dim'];
        if (row % step === 0)
            c.fillText(short ? data.rows[row][1].replace(/^[a-z]+ |,.*/g, '') : data.rows[row][1], gutter - 8,
                y(row) + rowHeight / 2 + 4);
    }
}

// The counts of all transactions behind those that are in the page.
function drawBins(c) {
    const first = Math.max(0, Math.floor(view.from / data.slot)), last = Math.min(data.slots - 1, Math.floor(view.to / data.slot));
    for (let row = 0; row < bins.length; row++)
        for (let slot = first; slot <= last; slot++) {
            const left = Math.max(gutter, x(slot * data.slot)), right = x((slot + 1) * data.slot), counts = bins[row][slot];
            ['--good', '--bad', '--open'].forEach((colour, outcome) => {
                if (counts[outcome] === 0)
                    return;
                c.globalAlpha = 0.08 + 0.3 * counts[outcome] / binMost;
                c.fillStyle = colours[colour];
                c.fillRect(left, y(row), right - left, rowHeight);
            });
        }
    c.globalAlpha = 1;
}

function colourOf(bar) {
    if ($('tl-colour').value === 'node')
        return colours[bar.node ? NODE_COLOURS[nodes.indexOf(bar.node) % NODE_COLOURS.length] : '--dim'];
    return colours[bar.outcome === 0 ? bar.writes ? '--good' : '--link' : bar.outcome === 1 ? '--bad' : '--open'];
}

// What the colours mean: those of outcomes, which the page has, or of nodes.
const legend = [...$('tl-legend').children];
function explain() {
    if ($('tl-colour').value !== 'node') {
        $('tl-legend').replaceChildren(...legend);
        return;
    }
    $('tl-legend').replaceChildren(...nodes.map(node => {
        const entry = document.createElement('span'), mark = document.createElement('i');
        mark.style.background = `var(${NODE_COLOURS[nodes.indexOf(node) % NODE_COLOURS.length]})`;
        entry.append(mark, node);
        return entry;
    }), legend[legend.length - 1]);
}

// The indices of bars that may be in view: those that start in it, or at most the longest time before it.
function* inView() {
    let low = 0, high = bars.length;
    while (low < high) {
        const middle = low + high >> 1;
        if (bars[middle].start < view.from - longest)
            low = middle + 1;
        else
            high = middle;
    }
    const first = low < bars.length ? bars[low].start : Infinity;
    for (const bar of opens)
        if (bar.start < first)
            yield bar;
    for (; low < bars.length && bars[low].start <= view.to; low++)
        if (bars[low].end >= view.from)
            yield bars[low];
}

// The outcome shows in the shape, too: failed ones are half as high, those of unknown fate are hollow.
function drawBar(c, bar, strong) {
    const left = Math.max(gutter, x(bar.start)), right = Math.min(width, bar.end === Infinity ? x(bar.start) + 40 : x(bar.end));
    const pad = rowHeight > 8 ? 2 : rowHeight > 5 ? 1 : 0.5, high = rowHeight - 2 * pad, wide = Math.max(right - left, strong ? 3 : 1);
    c.fillStyle = c.strokeStyle = colourOf(bar);
    if (bar.outcome === 2 && wide > 4) {
        c.globalAlpha *= 0.3;
        c.fillRect(left, y(bar.row) + pad, wide, high);
        c.globalAlpha /= 0.3;
        c.strokeRect(left + 0.5, y(bar.row) + pad + 0.5, wide - 1, high - 1);
    } else if (bar.outcome === 1) {
        c.fillRect(left, y(bar.row) + pad + high / 2, wide, high / 2);
    } else {
        c.fillRect(left, y(bar.row) + pad, wide, high);
    }
    if (strong) {
        c.strokeStyle = colours['--ink'];
        c.lineWidth = 2;
        c.strokeRect(left - 1, y(bar.row) + pad - 1, wide + 2, high + 2);
        c.lineWidth = 1;
    } else if (wide > 60 && rowHeight >= 14 && bar.ops.length > 0) {
        const text = bar.ops.map(opText).join(', ');
        c.save();
        c.beginPath();
        c.rect(left, y(bar.row), wide - 3, rowHeight);
        c.clip();
        c.fillStyle = bar.outcome === 0 ? colours['--bg'] : colours['--ink'];
        c.textAlign = 'left';
        c.fillText(text, left + 4, y(bar.row) + rowHeight / 2 + 4);
        c.restore();
    }
}

function drawBars(c) {
    const lastAt = data.rows.map(() => [-9, -9, -9]); // one bar a pixel, row and outcome is enough
    const marked = new Set(witness ? witness.txns : []);
    if (chosen)
        marked.add(chosen);
    c.globalAlpha = witness ? 0.45 : 0.85;
    for (const bar of inView()) {
        const at = Math.round(x(bar.start)), wide = bar.end === Infinity || x(bar.end) - x(bar.start) > 2;
        if (!bar.shown || marked.has(bar) || (!wide && lastAt[bar.row][bar.outcome] === at))
            continue;
        lastAt[bar.row][bar.outcome] = at;
        drawBar(c, bar, false);
    }
    c.globalAlpha = 1;
    for (const bar of marked)
        if (bar.start <= view.to && bar.end >= view.from)
            drawBar(c, bar, true);
    drawMarks(c, marked);
}

function drawMarks(c, marked) {
    c.textAlign = 'left';
    c.font = '600 11.5px system-ui, sans-serif';
    for (const bar of marked) {
        if (bar.start > view.to || bar.end < view.from)
            continue;
        const text = `T${bar.name}`, wide = c.measureText(text).width + 8;
        const at = Math.min(Math.max(x(bar.start), gutter), width - wide), up = y(bar.row) + (bar.row === 0 ? rowHeight + 2 : -15);
        c.fillStyle = colours['--ink'];
        c.fillRect(at, up, wide, 14);
        c.fillStyle = colours['--bg'];
        c.fillText(text, at + 4, up + 11);
    }
    c.font = '11.5px system-ui, sans-serif';
}

function drawMap() {
    const height = 46, c = fit(map, height), left = gutter, scale = (width - left) / span;
    const heap = new Array(Math.max(1, Math.floor(width - left))).fill(0);
    if (bins.length > 0)
        bins.forEach(row => row.forEach((counts, slot) => {
            const from = slot * data.slot * scale, to = from + data.slot * scale;
            for (let i = Math.floor(from); i < to && i < heap.length; i++)
                heap[i] += (counts[0] + counts[1] + counts[2]) * (Math.min(to, i + 1) - Math.max(from, i)) / (to - from);
        }));
    else
        for (const bar of bars)
            heap[Math.min(heap.length - 1, Math.floor(bar.start * scale))]++;
    const most = heap.reduce((a, b) => Math.max(a, b), 1);
    c.fillStyle = colours['--card'];
    c.fillRect(left, 0, width - left, height);
    c.fillStyle = colours['--open'];
    c.globalAlpha = 0.25;
    for (const [from, to] of data.faults)
        c.fillRect(left + from * scale, 0, Math.max(1, ((to < 0 ? span : to) - from) * scale), height);
    c.globalAlpha = 0.6;
    c.fillStyle = colours['--link'];
    // By the root, and at least a pixel: a burst after a fault would hide all else.
    heap.forEach((count, i) => {
        if (count > 0)
            c.fillRect(left + i, height - 1 - Math.sqrt(count / most) * (height - 7), 1, height);
    });
    c.globalAlpha = 1;
    c.fillStyle = colours['--bad'];
    for (const one of witnesses)
        for (const bar of one.txns)
            c.fillRect(left + bar.start * scale - 1, 0, 2, 5);
    c.strokeStyle = colours['--ink'];
    c.lineWidth = 2;
    c.strokeRect(left + view.from * scale + 1, 1, Math.max(4, (view.to - view.from) * scale - 2), height - 2);
    c.lineWidth = 1;
}

function draw() {
    scheduled = false;
    if (canvas.clientWidth === 0)
        return;
    width = canvas.clientWidth;
    gutter = width < 560 ? 34 : 92;
    rowHeight = Math.max(5, Math.min(24, Math.floor(440 / Math.max(1, data.rows.length))));
    const height = TOP + BOTTOM + rowHeight * data.rows.length, c = fit(canvas, height);
    readColours();
    c.font = '11.5px system-ui, sans-serif';
    drawRows(c, height);
    c.save();
    c.beginPath();
    c.rect(gutter, 0, width - gutter, height);
    c.clip();
    drawBins(c);
    drawAxis(c, height);
    drawFaults(c, height);
    drawBars(c);
    c.restore();
    drawMap();
}

function change() {
    $('tl-state').setAttribute('aria-busy', 'true');
    if (!scheduled) {
        scheduled = true;
        requestAnimationFrame(() => { draw(); tell(); });
    }
}

// -- words ----------------------------------------------------------------------------------------------------------

let told = 0;
function tell() { // once the view rests, so that a screen reader is not flooded
    clearTimeout(told);
    told = setTimeout(() => {
        let count = 0;
        for (const bar of inView())
            count += bar.shown;
        const step = (view.to - view.from) / 1000, rest = bins.length > 0 ? ' of those in this page' : '';
        $('tl-state').textContent = `${showTime(view.from, step)} to ${showTime(view.to, step)}: `
            + `${count.toLocaleString('en')} transaction${count === 1 ? '' : 's'}${rest}`;
        $('tl-state').setAttribute('aria-busy', 'false');
        if ($('tl-list').open)
            fillTable();
    }, 150);
}

function cell(row, text, header) {
    const td = document.createElement(header ? 'th' : 'td');
    td.textContent = text;
    if (header)
        td.scope = 'row';
    row.append(td);
}

function fillTable() {
    const body = document.createElement('tbody');
    let count = 0;
    for (const bar of inView()) {
        if (!bar.shown || count++ >= TABLE_ROWS)
            continue;
        const row = document.createElement('tr');
        cell(row, `T${bar.name}`, true);
        cell(row, data.rows[bar.row][1]);
        cell(row, showTime(bar.start, 1000));
        cell(row, bar.end === Infinity ? 'never completed' : showLength(bar.end - bar.start));
        cell(row, OUTCOME_WORDS[bar.outcome]);
        cell(row, bar.node);
        cell(row, bar.ops.map(opText).join(', '));
        body.append(row);
    }
    $('tl-table').tBodies[0].replaceWith(body);
    $('tl-table-rest').textContent = count > TABLE_ROWS ? `${count - TABLE_ROWS} more: zoom in to see them.` : '';
}

function describe(bar) {
    const box = $('tl-txn');
    box.hidden = !bar;
    if (!bar)
        return;
    const ops = document.createElement('ol'), head = document.createElement('p'), title = document.createElement('b');
    title.textContent = `T${bar.name}`;
    head.append(title, ` ${OUTCOME_WORDS[bar.outcome]}: process ${bar.process}, `
        + (bar.end === Infinity ? `from ${showTime(bar.start, 1000)}, never completed` : `${showTime(bar.start, 1000)} to `
        + `${showTime(bar.end, 1000)}, ${showLength(bar.end - bar.start)}`) + (bar.node ? `, node ${bar.node}` : ''));
    for (const op of bar.ops) {
        const item = document.createElement('li'), code = document.createElement('code');
        code.textContent = opText(op);
        item.append(code);
        ops.append(item);
    }
    box.replaceChildren(head, ops);
    const of = witnesses.filter(one => one.txns.includes(bar)).map(one => one.name);
    if (of.length > 0) {
        const last = document.createElement('p');
        last.textContent = `Part of ${of.slice(0, 5).join(', ')}${of.length > 5 ? ' and others' : ''}.`;
        box.append(last);
    }
}

// -- moving ---------------------------------------------------------------------------------------------------------

function look(from, to) {
    const length = Math.max(Math.min(20, span), Math.min(span, to - from));
    view.from = Math.max(0, Math.min(span - length, from + (to - from - length) / 2));
    view.to = view.from + length;
    change();
}

function zoom(factor, at) {
    const fixed = at === undefined ? (view.from + view.to) / 2 : at;
    look(fixed - (fixed - view.from) * factor, fixed + (view.to - fixed) * factor);
}

const pan = by => {
    const move = Math.max(-view.from, Math.min(span - view.to, by * (view.to - view.from)));
    look(view.from + move, view.to + move);
};

function choose(bar) {
    chosen = bar;
    describe(bar);
    if (bar && (bar.start > view.to || bar.end < view.from)) {
        const half = (view.to - view.from) / 2;
        look(bar.start - half, bar.start + half);
    }
    change();
}

function chooseWitness(name) {
    witness = witnesses.find(one => one.name === name) || null;
    $('tl-witness').value = witness ? name : '';
    if (!witness || witness.txns.length === 0) {
        change();
        return;
    }
    const from = Math.min(...witness.txns.map(bar => bar.start));
    const to = Math.max(...witness.txns.map(bar => bar.end === Infinity ? bar.start : bar.end));
    const margin = Math.max((to - from) / 4, 10);
    choose(witness.txns[0]);
    look(from - margin, to + margin);
}

// The next transaction in time, in the same row or in any.
function step(by, sameRow) {
    let at = chosen ? bars.indexOf(chosen) + by : by > 0 ? bars.findIndex(bar => bar.start >= view.from) : bars.length - 1;
    while (at >= 0 && at < bars.length && (!bars[at].shown || (sameRow && chosen && bars[at].row !== chosen.row)))
        at += by;
    if (bars[at])
        choose(bars[at]);
}

// The transaction of the next row that is nearest in time.
function stepRow(by) {
    const row = chosen ? chosen.row + by : by > 0 ? 0 : data.rows.length - 1, at = chosen ? chosen.start : view.from;
    let best = null;
    for (const bar of bars)
        if (bar.shown && bar.row === row && (!best || Math.abs(bar.start - at) < Math.abs(best.start - at)))
            best = bar;
    if (best)
        choose(best);
}

function filter() {
    const key = $('tl-key').value.trim(), client = $('tl-client').value, outcome = $('tl-outcome').value, node = $('tl-node').value;
    for (const bar of bars)
        bar.shown = (key === '' || bar.ops.some(op => op.key === key)) && (client === '' || bar.row === Number(client))
            && (outcome === '' || OUTCOMES[bar.outcome] === outcome) && (node === '' || bar.node === node);
    change();
}

// -- hands ----------------------------------------------------------------------------------------------------------

const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => stepRow(-1), ArrowDown: () => stepRow(1),
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => look(0, span),
    Home: () => look(0, view.to - view.from), End: () => look(span - (view.to - view.from), span),
    n: () => step(1, false), p: () => step(-1, false), N: () => step(1, true), P: () => step(-1, true),
    Enter: () => chosen && look(chosen.start - (chosen.end === Infinity ? 1000 : chosen.end - chosen.start) - 20,
        (chosen.end === Infinity ? chosen.start + 1000 : 2 * chosen.end - chosen.start) + 20),
    Escape: () => { witness = null; $('tl-witness').value = ''; choose(null); },
};
canvas.addEventListener('keydown', event => {
    const act = keys[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey)
        return;
    event.preventDefault();
    act();
});

const at = event => event.clientX - canvas.getBoundingClientRect().left;
const fingers = new Map();
let moved = false;
canvas.addEventListener('pointerdown', event => {
    fingers.set(event.pointerId, at(event));
    moved = moved && fingers.size > 1;
    canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener('pointermove', event => {
    if (!fingers.has(event.pointerId))
        return;
    const before = fingers.get(event.pointerId), now = at(event);
    if (fingers.size === 1) {
        if (!moved && Math.abs(now - before) < 4)
            return;
        look(view.from - (t(now) - t(before)), view.to - (t(now) - t(before)));
    } else {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const wide = Math.abs(before - other), wider = Math.max(8, Math.abs(now - other));
        zoom(Math.max(0.5, Math.min(2, wide / wider)), t(other));
    }
    moved = true;
    fingers.set(event.pointerId, now);
});
const lift = event => {
    fingers.delete(event.pointerId);
    if (fingers.size === 0 && !moved && event.type === 'pointerup')
        pick(at(event), event.clientY - canvas.getBoundingClientRect().top);
    if (fingers.size === 0)
        moved = false;
};
canvas.addEventListener('pointerup', lift);
canvas.addEventListener('pointercancel', lift);
canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey && document.activeElement !== canvas) // the page scrolls until the timeline was clicked
        return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
        pan(event.deltaX / 1000);
    else
        zoom(Math.exp(Math.max(-1, Math.min(1, event.deltaY / 400))), t(at(event)));
}, {passive: false});
canvas.addEventListener('dblclick', event => zoom(0.25, t(at(event))));

function pick(px, py) {
    const row = Math.floor((py - TOP) / rowHeight);
    let best = null, distance = HIT_PX;
    for (const bar of inView()) {
        const off = Math.max(0, x(bar.start) - px, px - x(Math.min(bar.end, bar.start + 40 / (width - gutter) * (view.to - view.from)
            + (bar.end === Infinity ? 0 : span))));
        if (bar.shown && bar.row === row && off <= distance) {
            best = bar;
            distance = off;
        }
    }
    choose(best);
}

let dragging = false;
const mapTo = event => {
    const middle = (event.clientX - map.getBoundingClientRect().left - gutter) / (width - gutter) * span, half = (view.to - view.from) / 2;
    look(middle - half, middle + half);
};
map.addEventListener('pointerdown', event => { dragging = true; map.setPointerCapture(event.pointerId); mapTo(event); });
map.addEventListener('pointermove', event => dragging && mapTo(event));
map.addEventListener('pointerup', () => { dragging = false; });
map.addEventListener('pointercancel', () => { dragging = false; });

// -- the beginning --------------------------------------------------------------------------------------------------

function fillSelect(id, entries) {
    for (const [value, text] of entries) {
        const option = document.createElement('option');
        option.value = value;
        option.textContent = text;
        $(id).append(option);
    }
    $(id).closest('label').hidden = entries.length === 0;
}

function open() {
    $('timeline').open = true;
}

fillSelect('tl-witness', witnesses.map(one => [one.name, one.name + (one.txns.length === 0 ? ' (not drawn)' : '')]));
fillSelect('tl-client', data.rows.map((row, i) => [i, row[1]]));
fillSelect('tl-outcome', OUTCOMES.map((name, i) => [name, OUTCOME_WORDS[i]]));
fillSelect('tl-node', nodes.map(node => [node, node]));
$('tl-colour').closest('label').hidden = nodes.length === 0;
{
    const counts = new Map();
    for (const bar of bars)
        for (const op of bar.ops)
            counts.set(op.key, (counts.get(op.key) || 0) + 1);
    for (const [key] of [...counts].sort((a, b) => b[1] - a[1]).slice(0, 100)) {
        const option = document.createElement('option');
        option.value = key;
        $('tl-keys').append(option);
    }
}
$('tl-witness').addEventListener('change', event => chooseWitness(event.target.value));
for (const id of ['tl-client', 'tl-outcome', 'tl-node'])
    $(id).addEventListener('change', filter);
$('tl-key').addEventListener('input', filter);
$('tl-colour').addEventListener('change', () => { explain(); change(); });
$('tl-in').addEventListener('click', () => zoom(0.5));
$('tl-out').addEventListener('click', () => zoom(2));
$('tl-all').addEventListener('click', () => look(0, span));
$('tl-list').addEventListener('toggle', tell);
$('timeline').addEventListener('toggle', change);
for (const link of document.querySelectorAll('[data-witness]')) {
    if (!witnesses.some(one => one.name === link.dataset.witness && one.txns.length > 0))
        continue;
    link.closest('p').hidden = false;
    link.addEventListener('click', event => {
        event.preventDefault();
        open();
        chooseWitness(link.dataset.witness);
        $('timeline').scrollIntoView();
        canvas.focus({preventScroll: true});
    });
}
new ResizeObserver(change).observe(canvas);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', change);
addEventListener('beforeprint', draw);
$('tl').hidden = false;
if (location.hash === '#timeline')
    open();
})();
