import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { ENDPOINTS, SETTINGS } from '../tokens.js';
import { OPENAPI_DOCUMENTATION, teachCreateDocument } from './create-document.js';
import { OpenApiDocumentation } from './documentation.js';
import { loadSwagger } from './swagger.js';
export const openApiProvider = {
    provide: OPENAPI_DOCUMENTATION,
    inject: [DiscoveryService, MetadataScanner, ENDPOINTS, SETTINGS],
    useFactory: async (discovery, scanner, endpoints, settings) => {
        const swagger = await loadSwagger();
        if (swagger)
            teachCreateDocument(swagger);
        return new OpenApiDocumentation(discovery, scanner, endpoints, settings);
    },
};
