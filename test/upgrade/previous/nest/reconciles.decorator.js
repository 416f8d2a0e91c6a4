import 'reflect-metadata';
const RECONCILES = Symbol.for('nestjs-idempotency:reconciles');
export function Reconciles(endpoint) {
    return (_, __, descriptor) => Reflect.defineMetadata(RECONCILES, endpoint, descriptor.value);
}
export function reconciledEndpoint(method) {
    return Reflect.getMetadata(RECONCILES, method);
}
