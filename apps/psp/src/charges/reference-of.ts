import type { EntityManager } from 'typeorm';
import { Charge } from './charge.entity.js';

/** What the merchant calls a charge; undefined where there is no such charge, or no name for it. */
export async function referenceOf(
  manager: EntityManager,
  merchantId: string,
  id: string | undefined,
): Promise<string | undefined> {
  if (id === undefined) return undefined;
  const charge = await manager.findOne(Charge, { select: { reference: true }, where: { merchantId, id } });
  return charge?.reference ?? undefined;
}
