export type Swagger = Pick<typeof import('@nestjs/swagger'), 'ApiExtension' | 'SwaggerModule'>;

/** The application's `@nestjs/swagger`; null where it is not installed. Any other failure to load it surfaces. */
export async function loadSwagger(): Promise<Swagger | null> {
  try {
    return await import('@nestjs/swagger');
  } catch (error) {
    if (isNotInstalled(error as NodeJS.ErrnoException)) return null;
    throw error;
  }
}

/** A module that the package itself misses is named by a path through the package's folder, which goes on after it. */
function isNotInstalled({ code, message }: NodeJS.ErrnoException): boolean {
  const [whatIsMissing = ''] = message.split('\n', 1);
  return /^(?:ERR_)?MODULE_NOT_FOUND$/.test(code ?? '') && /@nestjs\/swagger(?![\w/-])/.test(whatIsMissing);
}
