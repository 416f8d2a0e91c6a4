/** As far below zero as the provider has taken money from cards, less what it has given back. */
export const clearingAccountOf = (currency: string): string => `clearing_${currency}`;

/** What the merchant has been paid by card, less what has gone back. */
export const salesAccountOf = (currency: string): string => `sales_${currency}`;
