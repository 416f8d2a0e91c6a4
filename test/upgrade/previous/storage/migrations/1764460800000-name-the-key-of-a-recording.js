import { dataSourceOf, recordNames } from '../table-names.js';
export class NameTheKeyOfARecording1764460800000 {
    constructor() {
        this.name = 'NameTheKeyOfARecording1764460800000';
    }
    async up(runner) {
        const { table, columns: c } = recordNames(dataSourceOf(runner));
        await runner.query(`ALTER TABLE ${table} ADD COLUMN ${c.responseKeyId} text`);
    }
    async down(runner) {
        const { table, columns: c } = recordNames(dataSourceOf(runner));
        await runner.query(`ALTER TABLE ${table} DROP COLUMN ${c.responseKeyId}`);
    }
}
