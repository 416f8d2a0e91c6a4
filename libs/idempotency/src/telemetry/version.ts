/** The package's version, under which meter and tracer are known. */
export const VERSION = '0.1.0';
