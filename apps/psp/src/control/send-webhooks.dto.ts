import { IsOptional, Matches } from 'class-validator';

export class SendWebhooks {
  /** The id of an event; every one that was not delivered, unless it says which. */
  @IsOptional()
  @Matches(/^msg_[0-9a-f-]{36}$/)
  event?: string;
}
