export function asPlainParameter(decorate) {
    return (target, method, index) => {
        decorate(target, method, index);
        if (method === undefined)
            return;
        const types = Reflect.getMetadata('design:paramtypes', target, method);
        if (types) {
            const kept = types.map((type, at) => (at === index ? Object : type));
            Reflect.defineMetadata('design:paramtypes', kept, target, method);
        }
    };
}
