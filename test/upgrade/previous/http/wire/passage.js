import { AsyncLocalStorage } from 'node:async_hooks';
const passage = new AsyncLocalStorage();
export function letPass(holding, write) {
    return passage.run(holding, write);
}
export function isLetPass(holding) {
    return passage.getStore() === holding;
}
