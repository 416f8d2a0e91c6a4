/**
 * A parameter decorator whose parameter is not validated.
 *
 * A ValidationPipe with `validateCustomDecorators` would take what it hands over for a DTO.
 */
export function asPlainParameter(decorate: ParameterDecorator): ParameterDecorator {
  return (target, method, index) => {
    decorate(target, method, index);
    if (method === undefined) return;
    const types = Reflect.getMetadata('design:paramtypes', target, method) as unknown[] | undefined;
    if (types) {
      const kept = types.map((type, at) => (at === index ? Object : type));
      Reflect.defineMetadata('design:paramtypes', kept, target, method);
    }
  };
}
