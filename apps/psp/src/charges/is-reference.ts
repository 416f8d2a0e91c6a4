import { Matches } from 'class-validator';

/** What a merchant calls something: printable, without white space at its ends. */
export const IsReference = (): PropertyDecorator => Matches(/^[!-~](?:[ -~]{0,253}[!-~])?$/);
