/* A ring of fixed size: an item that exceeds it replaces the oldest. */
export class Ring {
    #items;
    #first = 0;
    #n = 0;

    constructor(size) {
        this.#items = new Array(size);
        this.dropped = 0; /* in total */
    }

    get length() {
        return this.#n;
    }

    /* The i-th oldest item. */
    at(i) {
        return this.#items[(this.#first + i) % this.#items.length];
    }

    get last() {
        return this.#n ? this.at(this.#n - 1) : undefined;
    }

    push(item) {
        const size = this.#items.length;
        this.#items[(this.#first + this.#n) % size] = item;
        if (this.#n < size) {
            this.#n++;
        } else {
            this.#first = (this.#first + 1) % size;
            this.dropped++;
        }
    }

    clear() {
        this.#items.fill(undefined);
        this.#first = this.#n = this.dropped = 0;
    }
}
