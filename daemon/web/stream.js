/* A live stream of lines from the daemon. If the connection ends, it is made
 * again and resumes after the last record. A new query replaces the stream only
 * when the daemon has accepted it: a refused one changes nothing. */

const AGAIN_MS = 1000;
const LINE_MAX = 4 << 20;

export class Stream {
    #current = null; /* { query, stop, last } of the stream whose lines arrive */
    #next = null; /* of a query that is not accepted yet */

    /* take(lines): lines have arrived. accepted(): lines of the new query
     * follow. say(state, text): 'open', 'closed', or 'refused'. */
    constructor(take, accepted, say) {
        this.take = take;
        this.accepted = accepted;
        this.say = say;
    }

    /* query: URLSearchParams of /lines. */
    open(query) {
        this.#next?.stop.abort();
        this.#next = { query, stop: new AbortController(), last: 0 };
        this.#run(this.#next);
    }

    /* True: lines arrive, or will when the daemon answers again. */
    get isOpen() {
        return this.#current !== null;
    }

    /* Notes the number of the last record, from which to resume. */
    note(sequence) {
        if (Number.isFinite(sequence))
            this.#current.last = sequence;
    }

    async #run(run) {
        const { signal } = run.stop;
        while (!signal.aborted) {
            let why = 'the daemon does not answer';
            try {
                why = await this.#read(run) ?? why;
            } catch {
                /* The daemon has ended, or has not started yet. */
            }
            if (signal.aborted)
                return;
            this.say('closed', why);
            await new Promise((done) => setTimeout(done, AGAIN_MS));
            if (run.last) {
                run.query.set('from', run.last + 1);
                run.query.delete('sample_history');
            }
        }
    }

    #refuse(run, text) {
        run.stop.abort();
        this.#next = null;
        this.say('refused', text);
    }

    #accept(run) {
        if (run === this.#next) {
            this.#current?.stop.abort();
            this.#current = run;
            this.#next = null;
            this.accepted();
        }
        this.say('open', '');
    }

    /* Returns why it ended, if the daemon said so. */
    async #read(run) {
        const { signal } = run.stop;
        const answer = await fetch('/lines?' + run.query, { signal, cache: 'no-store' });
        if (answer.status === 400) {
            this.#refuse(run, (await answer.text()).trim());
            return undefined;
        }
        if (!answer.ok) {
            /* The stream of the query before may be the one too many. */
            if (run === this.#next)
                this.#current?.stop.abort();
            return (await answer.text()).trim();
        }
        this.#accept(run);
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = '';
        for (;;) {
            const { done, value } = await reader.read();
            if (done || signal.aborted)
                return undefined;
            const lines = (rest + value).split('\n');
            rest = lines.pop();
            if (rest.length > LINE_MAX)
                throw new Error('a line without an end');
            this.take(lines);
        }
    }
}
