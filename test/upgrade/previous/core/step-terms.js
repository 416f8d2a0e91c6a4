export const MARGIN_MS = 5_000;
export function leaseMsFor({ deadlineMs, whenUnknown }) {
    return (typeof whenUnknown === 'function' ? 2 : 1) * deadlineMs + MARGIN_MS;
}
