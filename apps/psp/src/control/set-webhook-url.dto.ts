import { IsUrl, ValidateIf } from 'class-validator';

export class SetWebhookUrl {
  /** Null for nowhere. */
  @ValidateIf(({ url }: SetWebhookUrl) => url !== null)
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  url!: string | null;
}
