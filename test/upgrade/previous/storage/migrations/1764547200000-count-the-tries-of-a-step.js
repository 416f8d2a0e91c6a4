import { dataSourceOf, stepNames } from '../table-names.js';
export class CountTheTriesOfAStep1764547200000 {
    constructor() {
        this.name = 'CountTheTriesOfAStep1764547200000';
    }
    async up(runner) {
        const { table, columns: c } = stepNames(dataSourceOf(runner));
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${c.tries} integer NOT NULL DEFAULT 1`);
    }
    async down(runner) {
        const { table, columns: c } = stepNames(dataSourceOf(runner));
        await runner.query(`ALTER TABLE ${table} DROP COLUMN ${c.tries}`);
    }
}
