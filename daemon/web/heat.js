/* Entries as a heat picture: two arguments are the position, a third one the
 * value. All entries are reduced into a grid, which is then shaded. NaN and the
 * infinities have colours of their own. */

import { SPECIAL, colour } from './colours.js';

const CELLS = 512; /* along each axis, at most */
const BINS = 64; /* along an axis with fractions */

export const REDUCERS = {
    last: (_, value) => value,
    mean: null, /* a sum, divided at the end */
    min: Math.min,
    max: Math.max,
    count: (old) => (old ?? 0) + 1,
};

function axis(columns, column) {
    const { min, max, n } = columns.summary(column);
    const values = columns.data[column];
    let isWhole = true;
    for (let i = 0; i < columns.length && isWhole; i++) {
        const value = values[columns.place(i)];
        isWhole = !Number.isFinite(value) || Number.isInteger(value);
    }
    if (!n)
        return null;
    const span = max - min;
    const cells = isWhole && span < CELLS ? span + 1 : isWhole ? CELLS : BINS;
    /* Multiply first: then whole numbers fall exactly into their cells. */
    const place = (value) => Math.min(cells - 1, span ?
        Math.floor(((value - min) * cells) / (isWhole ? span + 1 : span)) : 0);
    return { min, max, cells, place };
}

/* Returns a sparse array of cells: cells without a value are missing. */
export function reduce(columns, x, y, value, reducer) {
    const across = axis(columns, x);
    const down = axis(columns, y);
    if (!across || !down)
        return null;
    const cells = new Array(across.cells * down.cells);
    const counts = new Uint32Array(cells.length);
    const add = REDUCERS[reducer] ?? ((old, more) => old + more);
    for (let i = 0; i < columns.length; i++) {
        const at = columns.place(i);
        const px = columns.data[x][at];
        const py = columns.data[y][at];
        if (!Number.isFinite(px) || !Number.isFinite(py))
            continue;
        const cell = down.place(py) * across.cells + across.place(px);
        const isFirst = counts[cell]++ === 0;
        const more = columns.data[value][at];
        cells[cell] = reducer === 'count' ? counts[cell] : isFirst ? more : add(cells[cell], more);
    }
    if (reducer === 'mean') {
        for (let i = 0; i < cells.length; i++) {
            if (counts[i])
                cells[i] /= counts[i];
        }
    }
    return { across, down, cells, counts };
}

/* Counts the cells by kind, and the range of their values; least: the smallest
 * value above 0; notAbove0: the number of all others. */
export function describeGrid({ cells, counts }) {
    const ret = { min: Infinity, max: -Infinity, least: Infinity, notAbove0: 0,
        n: 0, several: 0, nan: 0, more: 0, less: 0 };
    cells.forEach((value, i) => {
        ret.n++;
        ret.several += counts[i] > 1 ? 1 : 0;
        if (Number.isNaN(value)) {
            ret.nan++;
        } else if (!Number.isFinite(value)) {
            ret[value > 0 ? 'more' : 'less']++;
        } else {
            ret.min = Math.min(ret.min, value);
            ret.max = Math.max(ret.max, value);
            ret.least = value > 0 ? Math.min(ret.least, value) : ret.least;
            ret.notAbove0 += value > 0 ? 0 : 1;
        }
    });
    return ret;
}

/* How many sorted numbers are below the value; orEqual: or equal to it. */
function rank(sorted, value, orEqual) {
    let [low, high] = [0, sorted.length];
    while (low < high) {
        const middle = (low + high) >> 1;
        if (orEqual ? sorted[middle] <= value : sorted[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Functions that map a number to its share of the colours, as `printfdecode
 * plot` does. */
export const SCALES = {
    linear: (cells, { min, max }) => (value) => (max > min ? (value - min) / (max - min) : 0.5),
    log: (cells, { least, max }) => {
        const [from, to] = [Math.log(least), Math.log(max)];
        return (value) => (value <= 0 ? 0 : to > from ? (Math.log(value) - from) / (to - from) : 0.5);
    },
    equal: (cells) => {
        const sorted = Float64Array.from(cells.filter(Number.isFinite)).sort();
        return (value) => {
            const [below, upTo] = [rank(sorted, value, false), rank(sorted, value, true)];
            const place = !below ? 0 : upTo === sorted.length ? upTo : (below + upTo) / 2;
            return place / sorted.length;
        };
    },
};

/* Draws each cell as one pixel of the canvas. */
export function shade(canvas, grid, about, scale) {
    const { across, down, cells } = grid;
    canvas.width = across.cells;
    canvas.height = down.cells;
    const context = canvas.getContext('2d');
    const image = context.createImageData(across.cells, down.cells);
    const share = SCALES[scale](cells, about);
    cells.forEach((value, i) => {
        let rgb = null;
        if (Number.isNaN(value)) {
            rgb = SPECIAL.nan;
        } else if (!Number.isFinite(value)) {
            rgb = value > 0 ? SPECIAL.more : SPECIAL.less;
        } else {
            rgb = colour(share(value));
        }
        image.data.set([...rgb, 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
}
