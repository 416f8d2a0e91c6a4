export const PARK_RETRY_MS = 5_000;
