import { type Provider } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';

import type { Endpoints } from '../endpoints.js';
import type { ModuleSettings } from '../settings.js';
import { ENDPOINTS, SETTINGS } from '../tokens.js';
import { OPENAPI_DOCUMENTATION, teachCreateDocument } from './create-document.js';
import { OpenApiDocumentation } from './documentation.js';
import { loadSwagger } from './swagger.js';

/** Is there before the application is, since documents are usually made before it listens. */
export const openApiProvider: Provider = {
  provide: OPENAPI_DOCUMENTATION,
  inject: [DiscoveryService, MetadataScanner, ENDPOINTS, SETTINGS],
  useFactory: async (
    discovery: DiscoveryService,
    scanner: MetadataScanner,
    endpoints: Endpoints,
    settings: ModuleSettings,
  ) => {
    const swagger = await loadSwagger();
    if (swagger) teachCreateDocument(swagger);
    return new OpenApiDocumentation(discovery, scanner, endpoints, settings);
  },
};
