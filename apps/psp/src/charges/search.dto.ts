import { IsReference } from './is-reference.js';

export class Search {
  @IsReference()
  reference!: string;
}
