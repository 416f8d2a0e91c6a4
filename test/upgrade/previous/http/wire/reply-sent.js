const MARK = Symbol('nestjs-idempotency.held');
const SENT = {
    configurable: true,
    enumerable: true,
    get() {
        return this[MARK]?.hasEnded === true || Reflect.get(Object.getPrototypeOf(this), 'sent', this) === true;
    },
};
export function markReplySent(reply, held) {
    reply[MARK] = held;
    Object.defineProperty(reply, 'sent', SENT);
}
