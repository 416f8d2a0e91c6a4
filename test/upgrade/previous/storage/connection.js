import { isConnectionLost } from './postgres-errors.js';
export class Connection {
    constructor(dataSource, runner, client, options) {
        this.dataSource = dataSource;
        this.runner = runner;
        this.client = client;
        this.options = options;
        this.isHandedOut = false;
        this.isDistrusted = false;
        this.release = runner.release.bind(runner);
        this.query = client.query.bind(client);
    }
    static async checkOut(dataSource, options) {
        const runner = dataSource.createQueryRunner('master');
        let timer;
        const tooLate = new Promise((_, reject) => {
            timer = setTimeout(() => {
                reject(new Error(`No database connection came free within ${options.acquireTimeoutMs} ms.`));
            }, options.acquireTimeoutMs);
        });
        const connecting = runner.connect();
        try {
            return new Connection(dataSource, runner, await Promise.race([connecting, tooLate]), options);
        }
        catch (error) {
            connecting.then(() => runner.release(), () => undefined);
            throw error;
        }
        finally {
            clearTimeout(timer);
        }
    }
    run(statement, values) {
        const { text, name } = statement;
        return this.send(this.options.areStatementsPrepared ? { name, text, values } : { text, values });
    }
    async command(text) {
        const results = await this.send({ text });
        return Array.isArray(results) ? results.at(-1) : results;
    }
    async rollBack(report) {
        if (!this.isUsable)
            return false;
        try {
            await this.command('ROLLBACK');
            return true;
        }
        catch (error) {
            this.distrust();
            report('A rollback was not confirmed; its connection is closed, which rolls back as well.', error);
            return false;
        }
    }
    watch(look) {
        const own = Object.getOwnPropertyDescriptor(this.client, 'query');
        const query = this.query;
        const watched = (...args) => {
            look(textOf(args[0]));
            return query(...args);
        };
        Object.defineProperty(this.client, 'query', { value: watched, configurable: true, writable: true });
        this.unwatch = () => {
            Reflect.deleteProperty(this.client, 'query');
            if (own)
                Object.defineProperty(this.client, 'query', own);
        };
    }
    get isUsable() {
        return !this.isDistrusted && !this.runner.isReleased;
    }
    get isPipelined() {
        return this.client.pipeline === true;
    }
    distrust() {
        this.isDistrusted = true;
    }
    close() {
        if (this.runner.isReleased)
            return;
        this.unwatch?.();
        if (this.isDistrusted)
            void this.client.end().catch(() => undefined);
        void this.release();
    }
    async send(query) {
        try {
            return await this.query({ ...query, query_timeout: this.options.statementTimeoutMs });
        }
        catch (error) {
            if (isConnectionLost(error))
                this.distrust();
            throw error;
        }
    }
}
function textOf(query) {
    if (typeof query === 'string')
        return query;
    const { text, cursor } = query;
    if (typeof text === 'string')
        return text;
    return cursor === undefined ? '' : textOf(cursor);
}
