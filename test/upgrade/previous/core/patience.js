export const NO_PATIENCE = { patienceMs: 0 };
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
export function pauseMs(looks) {
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** looks, LONGEST_PAUSE_MS);
    return longest * (0.5 + Math.random() / 2);
}
export class Pauses {
    constructor() {
        this.ends = new Set();
    }
    for(ms, signal) {
        return new Promise((resolve) => {
            const end = () => {
                clearTimeout(timer);
                this.ends.delete(end);
                signal?.removeEventListener('abort', end);
                resolve();
            };
            const timer = setTimeout(end, ms);
            this.ends.add(end);
            signal?.addEventListener('abort', end);
            if (signal?.aborted)
                end();
        });
    }
    endAll() {
        for (const end of this.ends)
            end();
    }
}
