import { partsOf } from '../storage/quoted-text.js';
import { currentAttempt } from './attempt-context.js';
const PREAMBLE = /^(?:\s+|--[^\n]*\n|\/\*[\s\S]*?\*\/)/;
const WRITE = /^(?:insert|update|delete|merge|truncate|copy)\b/i;
const WRITING_PART = /\b(?:insert\s+into|update|delete\s+from|merge\s+into)\b/i;
const NUMBER = /(?<![\w$])\d[\w.]*/g;
const SHOWN_LENGTH = 80;
const MAX_TOLD = 1000;
export class StrayWrites {
    constructor(warn) {
        this.warn = warn;
        this.told = new Set();
    }
    watch(dataSource) {
        if (!dataSource.subscribers.includes(this))
            dataSource.subscribers.push(this);
    }
    beforeQuery({ query, queryRunner }) {
        const attempt = currentAttempt();
        if (!attempt || queryRunner === attempt.manager?.queryRunner || !isWrite(query))
            return;
        const endpoint = attempt.operation?.endpoint ?? 'A handler without a key';
        const statement = withoutValues(query).trim().replace(/\s+/g, ' ').slice(0, SHOWN_LENGTH);
        const mistake = `${endpoint}\n${statement}`;
        if (this.told.has(mistake) || this.told.size === MAX_TOLD)
            return;
        this.told.add(mistake);
        this.warn(`${endpoint} wrote outside its idempotent transaction: ${statement}… It stays when the operation is rolled ` +
            "back, and is repeated when it is retried. Write through the handler's `@TransactionManager()`, or " +
            '`IdempotencyContext.manager` in a service, as in `manager.getRepository(Entity)`.');
    }
}
function isWrite(query) {
    let command = query;
    for (let found = PREAMBLE.exec(command); found; found = PREAMBLE.exec(command))
        command = command.slice(found[0].length);
    return WRITE.test(command) || (/^with\b/i.test(command) && WRITING_PART.test(command));
}
function withoutValues(query) {
    const shown = Array.from(partsOf(query), ({ text, opening }) => {
        if (opening === null)
            return text.replace(NUMBER, '?');
        if (opening === '"')
            return text;
        return opening === '--' || opening === '/*' ? ' ' : '?';
    });
    return shown.join('');
}
