/** As far below zero as the provider has taken money from cards, less what it has given back or paid out to the bank. */
export const clearingAccountOf = (currency: string): string => `clearing_${currency}`;

/** What the merchant has been paid by card, less what has gone back. */
export const salesAccountOf = (currency: string): string => `sales_${currency}`;

/** As far below zero as money from cards has arrived at the bank. */
export const bankAccountOf = (currency: string): string => `bank_${currency}`;
