import { DefaultNamingStrategy } from 'typeorm';

/** The naming strategy of many applications: snake case for whatever has no name of its own. */
export class SnakeNaming extends DefaultNamingStrategy {
  override tableName(entity: string, given: string | undefined): string {
    return given ?? snake(entity);
  }

  override columnName(property: string, given: string | undefined, prefixes: string[]): string {
    return [...prefixes.map(snake), given ?? snake(property)].join('_');
  }
}

function snake(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, '_$&').toLowerCase();
}
