/** What both brokers are given of an event (CloudEvents 1.0, structured). */
export interface CloudEvent {
  readonly specversion: '1.0';
  readonly type: string;
  readonly source: string;
  /** The same however often it is published. */
  readonly id: string;
  readonly data: unknown;
}

export const CONTENT_TYPE = 'application/cloudevents+json';
