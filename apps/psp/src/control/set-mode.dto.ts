import { IsIn, IsOptional } from 'class-validator';
import { type Keys, KEYS, type Search, SEARCH } from '../settings/app-options.js';

export class SetMode {
  @IsOptional()
  @IsIn(KEYS)
  keys?: Keys;

  @IsOptional()
  @IsIn(SEARCH)
  search?: Search;
}
