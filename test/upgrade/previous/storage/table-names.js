import { IdempotencyRecord } from './entities/idempotency-record.entity.js';
import { IdempotencyStep } from './entities/idempotency-step.entity.js';
export function recordNames(dataSource) {
    return namesOf(dataSource, IdempotencyRecord);
}
export function stepNames(dataSource) {
    return namesOf(dataSource, IdempotencyStep);
}
export function dataSourceOf(runner) {
    return 'dataSource' in runner ? runner.dataSource : runner.connection;
}
export function quote(identifier) {
    return `"${identifier.replaceAll('"', '""')}"`;
}
function namesOf(dataSource, entity) {
    if (!dataSource.hasMetadata(entity)) {
        throw new Error(`The data source does not know the entity ${entity.name}. Add the library's entities to its options: ` +
            '`entities: [...yours, ...idempotencyEntities]`, or set `autoLoadEntities: true`.');
    }
    const metadata = dataSource.getMetadata(entity);
    const columns = Object.fromEntries(metadata.columns.map((column) => [column.propertyName, quote(column.databaseName)]));
    return { table: metadata.tablePath.split('.').map(quote).join('.'), columns, metadata };
}
