/* A histogram of the values of one argument. */

const BINS = 40;
const WIDTH = 480;
const HEIGHT = 160;

/* Counts of the bins from the smallest value to the largest. */
export function bins(columns, column) {
    const { min, max, n } = columns.summary(column);
    const counts = new Array(BINS).fill(0);
    const values = columns.data[column];
    for (let i = 0; n && i < columns.length; i++) {
        const value = values[columns.place(i)];
        if (!Number.isFinite(value))
            continue;
        const at = max > min ? Math.floor(((value - min) / (max - min)) * BINS) : 0;
        counts[Math.min(at, BINS - 1)]++;
    }
    return { min, max, n, counts };
}

export function drawBars(canvas, { counts }) {
    const context = canvas.getContext('2d');
    const most = Math.max(1, ...counts);
    const step = WIDTH / counts.length;
    canvas.width = WIDTH;
    canvas.height = HEIGHT;
    context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--bar');
    counts.forEach((n, i) => {
        const height = n ? Math.max(1, Math.round((n / most) * HEIGHT)) : 0;
        context.fillRect(i * step + 1, HEIGHT - height, step - 2, height);
    });
}
