/** What the examples need of the `stripe` package, in its own shape. */
export interface PaymentIntent {
  readonly id: string;
  readonly status: string;
}

export declare class StripeError extends Error {
  readonly rawType?: 'api_error' | 'card_error' | 'idempotency_error' | 'invalid_request_error';
  readonly statusCode?: number;
}

export declare const stripe: {
  readonly paymentIntents: {
    create(
      request: {
        readonly amount: number;
        readonly currency: string;
        readonly confirm: boolean;
        readonly payment_method: string;
        readonly metadata: Readonly<Record<string, string>>;
      },
      options: { readonly idempotencyKey: string; readonly timeout: number; readonly maxNetworkRetries: number },
    ): Promise<PaymentIntent>;
    search(request: { readonly query: string }): Promise<{ readonly data: readonly PaymentIntent[] }>;
  };
};
