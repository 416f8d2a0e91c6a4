import { Connection } from './connection.js';
export class AttemptConnection {
    constructor(current, dataSource, options, statements, attempt) {
        this.current = current;
        this.dataSource = dataSource;
        this.options = options;
        this.statements = statements;
        this.attempt = attempt;
    }
    static async open(dataSource, options, statements, attempt) {
        const connection = await Connection.checkOut(dataSource, options);
        return new AttemptConnection(connection, dataSource, options, statements, attempt);
    }
    another() {
        return AttemptConnection.open(this.dataSource, this.options, this.statements, this.attempt);
    }
    async usable() {
        if (!this.current.isUsable) {
            this.current.close();
            this.current = await Connection.checkOut(this.dataSource, this.options);
        }
        return this.current;
    }
    async unused() {
        if (this.current.isHandedOut)
            this.current.close();
        return this.usable();
    }
    get identity() {
        const { tenant, endpoint, key } = this.attempt.operation;
        return [tenant, endpoint, key];
    }
    async run(name, ...values) {
        return (await this.usable()).run(this.statements[name], [...this.identity, ...values]);
    }
    async read() {
        return (await this.run('read')).rows[0] ?? null;
    }
    rest() {
        this.current.close();
    }
    close() {
        this.current.close();
    }
}
