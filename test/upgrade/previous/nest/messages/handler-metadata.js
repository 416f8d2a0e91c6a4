const PATTERN = 'microservices:pattern';
const HANDLER_TYPE = 'microservices:handler_type';
const EVENT = 2;
const RABBIT_HANDLER = 'RABBIT_HANDLER';
export function isMessageHandler(handler) {
    return isPatternHandler(handler) || isRabbitHandler(handler);
}
export function isPatternHandler(handler) {
    return Reflect.hasMetadata(PATTERN, handler);
}
export function isRabbitHandler(handler) {
    return rabbitKeys(handler).length > 0;
}
function rabbitKeys(handler) {
    return Reflect.getMetadataKeys(handler).filter((key) => typeof key === 'symbol' && key.description === RABBIT_HANDLER);
}
export function isEventHandler(handler) {
    return Reflect.getMetadata(HANDLER_TYPE, handler) === EVENT;
}
export function isBatchHandler(handler) {
    return rabbitKeys(handler).some((key) => {
        const options = Reflect.getMetadata(key, handler);
        return options?.batchOptions !== undefined;
    });
}
export function patternsOf(handler) {
    const patterns = (Reflect.getMetadata(PATTERN, handler) ?? []);
    return patterns.map((pattern) => JSON.stringify(pattern));
}
