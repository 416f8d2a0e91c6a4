import type { HeaderObject, MediaTypeObject, OperationObject, ReferenceObject, ResponseObject } from '@nestjs/swagger';

import { REPLAYED_HEADER } from '../../http/wire/replay.js';
import type { Endpoint } from '../endpoints.js';
import type { ModuleSettings } from '../settings.js';
import { withKeyHeader } from './key-parameter.js';
import { PROBLEM_MEDIA_TYPE, problemResponses } from './problem-responses.js';

type Response = ResponseObject | ReferenceObject;

const REPLAYED: HeaderObject = {
  description: 'Present where this is the recorded answer of an earlier request with the same key.',
  schema: { type: 'string', enum: ['true'] },
};

/** Says in an operation of the document what its endpoint means for callers; what the application says there stays. */
export function describeOperation(operation: OperationObject, endpoint: Endpoint, settings: ModuleSettings): void {
  const { isRequired, retentionMs, leaseMs } = endpoint;
  const takesHeader = endpoint.key === undefined;
  if (takesHeader) operation.parameters = withKeyHeader(operation.parameters ?? [], endpoint, settings);
  operation.responses = { ...operation.responses };
  for (const [status, response] of Object.entries(operation.responses)) {
    if (response && /^[23]/.test(status)) operation.responses[status] = withReplayedHeader(response);
  }
  for (const [status, response] of problemResponses(endpoint, settings.problems)) {
    operation.responses[status] = joined(operation.responses[status], response);
  }
  const extension = {
    ...(takesHeader && { keyHeader: settings.header }),
    required: isRequired,
    retentionSeconds: retentionMs / 1000,
    leaseSeconds: leaseMs / 1000,
  };
  Object.assign(operation, { 'x-idempotency': extension, ...operation });
}

function withReplayedHeader(response: Response): Response {
  if ('$ref' in response) return response;
  return { ...response, headers: { [REPLAYED_HEADER]: structuredClone(REPLAYED), ...response.headers } };
}

/** One response that says what either does; where both have a word for the same thing, `theirs` counts. */
function joined(theirs: Response | undefined, ours: ResponseObject): Response {
  if (!theirs) return ours;
  if ('$ref' in theirs) return theirs;
  return {
    ...theirs,
    description: [theirs.description, ours.description].filter(Boolean).join('\n\n'),
    ...((ours.headers ?? theirs.headers) && { headers: { ...ours.headers, ...theirs.headers } }),
    content: {
      ...theirs.content,
      [PROBLEM_MEDIA_TYPE]: joinedMedia(theirs.content?.[PROBLEM_MEDIA_TYPE], ours.content![PROBLEM_MEDIA_TYPE]!),
    },
  };
}

function joinedMedia(theirs: MediaTypeObject | undefined, ours: MediaTypeObject): MediaTypeObject {
  if (!theirs) return ours;
  return { ...theirs, schema: theirs.schema ? { anyOf: [theirs.schema, ours.schema!] } : ours.schema! };
}
