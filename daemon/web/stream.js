/* A live stream of lines from the daemon. If the connection ends, it is made
 * again and resumes after the last record. */

const AGAIN_MS = 1000;
const LINE_MAX = 4 << 20;

export class Stream {
    #stop = null;
    #last = 0;

    /* take(lines): lines have arrived. say(state, text): 'open', 'closed', or
     * 'refused', after which no lines arrive. */
    constructor(take, say) {
        this.take = take;
        this.say = say;
    }

    /* query: URLSearchParams of /lines. Ends a stream that is open. */
    open(query) {
        this.close();
        this.#last = 0;
        const stop = new AbortController();
        this.#stop = stop;
        this.#run(query, stop.signal);
    }

    close() {
        this.#stop?.abort();
        this.#stop = null;
    }

    /* Notes the number of the last record, from which to resume. */
    note(sequence) {
        if (Number.isFinite(sequence))
            this.#last = sequence;
    }

    async #run(query, signal) {
        while (!signal.aborted) {
            try {
                if (await this.#read(query, signal))
                    return;
            } catch {
                /* The daemon has ended, or has not started yet. */
            }
            if (signal.aborted)
                return;
            this.say('closed', 'the daemon does not answer');
            await new Promise((done) => setTimeout(done, AGAIN_MS));
            if (this.#last)
                query.set('from', this.#last + 1);
        }
    }

    /* True: the daemon has refused the query. */
    async #read(query, signal) {
        const answer = await fetch('/lines?' + query, { signal, cache: 'no-store' });
        if (answer.status === 400) {
            this.say('refused', (await answer.text()).trim());
            return true;
        }
        if (!answer.ok)
            throw new Error(await answer.text());
        this.say('open', '');
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
            const { done, value } = await reader.read();
            if (done || signal.aborted)
                return false;
            const lines = (rest + value).split('\n');
            rest = lines.pop();
            if (rest.length > LINE_MAX)
                throw new Error('a line without an end');
            this.take(lines);
        }
    }
}
