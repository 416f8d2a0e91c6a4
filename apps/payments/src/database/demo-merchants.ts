export interface DemoMerchant {
  readonly id: string;
  readonly name: string;
  readonly apiKey: string;
  readonly accounts: readonly DemoAccount[];
}

export interface DemoAccount {
  readonly id: string;
  readonly currency: string;
  /** The opening balance, in minor units. */
  readonly opening: number;
}

export const acme: DemoMerchant = {
  id: 'mer_acme',
  name: 'Acme',
  apiKey: 'sk_demo_acme',
  accounts: [
    { id: 'acct_alice', currency: 'usd', opening: 1_000_000 },
    { id: 'acct_carol', currency: 'usd', opening: 100 },
    { id: 'acct_shop', currency: 'usd', opening: 0 },
    { id: 'acct_bob', currency: 'eur', opening: 1_000_000 },
    { id: 'acct_shop_eur', currency: 'eur', opening: 0 },
  ],
};

export const globex: DemoMerchant = {
  id: 'mer_globex',
  name: 'Globex',
  apiKey: 'sk_demo_globex',
  accounts: [
    { id: 'acct_dave', currency: 'usd', opening: 1_000_000 },
    { id: 'acct_store', currency: 'usd', opening: 0 },
    { id: 'acct_erin', currency: 'eur', opening: 1_000_000 },
    { id: 'acct_store_eur', currency: 'eur', opening: 0 },
  ],
};

export const demoMerchants: readonly DemoMerchant[] = [acme, globex];
