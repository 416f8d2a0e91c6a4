import { IsOptional, Matches } from 'class-validator';

export class Release {
  /** The id of a held call; every one, unless it says which. */
  @IsOptional()
  @Matches(/^call_\d+$/)
  call?: string;
}
